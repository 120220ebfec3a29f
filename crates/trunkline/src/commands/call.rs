//! `call`: calls one tool.

use super::{
    Context, Ending, executions,
    status::{self, Asker},
};
use crate::{
    args::{ConnectionArgs, Split, TargetWords},
    arguments::{self, BadArgument, Given, Stdin, suggest},
    environment,
    failure::Failure,
    render::{Out, content::Renderer, safe},
    session,
    terminal::Progress,
    wire,
};
use std::{path::PathBuf, time::Duration};
use tokio::time::{Instant, sleep};
use trunkline_client::{Client, Listing, Target};
use trunkline_protocol::{
    Fault, FaultKind, Object, Raw,
    message::{CallToolResult, ContentBlock, Tool},
};

/// The name that our gateway gives itself.
const GATEWAY: &str = "trunkline";
/// The tool of a view that gives whole definitions of others, and all tools of such a view.
const DESCRIBE: &str = "describe_tool";
const OWN_TOOLS: [&str; 3] = ["search_tools", DESCRIBE, "call_tool"];
/// Timeout for starting an execution, and for the start of the server that has the tool.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Time between two looks at the tools of a gateway whose server is starting.
const PAUSE: Duration = Duration::from_millis(500);

/// Call a tool
///
/// Arguments are `name=value`, where the tool's schema decides whether the value is a string,
/// number, boolean, array or object; `name:=json` for any JSON; a whole JSON object
/// (`'{"a": 1}'`), or `@file` for a file with one (`@-` for standard input). A dot
/// selects a member of an object (`where.line=3`); repeating a name adds items to an array
/// (`tag=a tag=b`).
///
/// The arguments are validated against the tool's schema before anything is sent. If validation
/// would be too expensive, it is skipped with a warning.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "trunkline call [OPTIONS] <TARGET> <TOOL> [ARGUMENT]...\n       trunkline call [OPTIONS] <TOOL> [ARGUMENT]... -- <COMMAND>..."
)]
pub(crate) struct Args {
    /// The server's address or its name in the configuration, the tool's name, and its arguments
    #[arg(value_name = "TARGET TOOL ARGUMENT")]
    words: Vec<String>,
    /// The command that starts the server, instead of TARGET
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Send the arguments without reading the tool's schema; plain values are sent as strings
    #[arg(long)]
    no_check: bool,
    /// Start the tool as an execution of a running gateway and print its id; see `trunkline
    /// executions`
    #[arg(long = "async", conflicts_with = "out")]
    in_background: bool,
    /// Save images, audio and other binary content in this directory, or as this file
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let split = TargetWords { words: &args.words, command: &args.command }.split(&context.environment)?;
    let Some((&name, words)) = split.rest.split_first() else {
        return Err(Failure::usage("there is no tool to call").hint("`trunkline list` shows the tools"));
    };
    let mut stdin = Stdin::default();
    let given: Result<Vec<Given>, _> = words.iter().map(|word| Given::read(word, &mut stdin)).collect();
    let given = given.map_err(|bad| bad_argument(&bad))?;
    let name = name.to_owned();
    let gateway = if args.in_background { Some(gateway(context, args, &split, &name)?) } else { None };
    let status = status::command_for(&split.target);
    session::with_client(context, split, &args.connection, async |client: &Client| {
        let arguments = if args.no_check {
            arguments::build(given, None).map_err(|bad| bad_argument(&bad))?
        } else {
            checked(context, &find(client, (&name, &status)).await?, given)?
        };
        if let Some(gateway) = &gateway {
            return started(context, &executions::start(gateway, &arguments, START_TIMEOUT).await?);
        }
        let progress = Progress::start(&context.screen, &format!("calling {name}"));
        let result = client.call(name, arguments).on_progress(|params| progress.show(&params)).await?;
        drop(progress);
        show(context, args, &result)
    })
}

/// The gateway behind an MCP endpoint, at the path that executes a tool.
fn gateway(context: &Context, args: &Args, split: &Split<'_>, tool: &str) -> Result<Asker, Failure> {
    let Target::Url(url) = &split.target else {
        return Err(Failure::usage("--async needs the address of a gateway")
            .hint("`trunkline serve` says where it listens"));
    };
    let tool: String = url::form_urlencoded::byte_serialize(tool.as_bytes()).collect();
    // Below a view, the path of the endpoint is kept.
    let main = url.path().trim_end_matches('/').ends_with("/mcp");
    let path = format!("{}/tools/{}/execute", if main { "/mcp" } else { "" }, tool.replace('+', "%20"));
    let headers = wire::options(&args.connection, context)?.http.extra_headers;
    let key = context.environment.get_filled(environment::KEY).filter(|_| headers.is_empty());
    Ok(Asker::new(url.as_str(), key, &path)?.with_headers(headers))
}

fn started(context: &Context, execution: &Raw) -> Result<Ending, Failure> {
    if context.output.json {
        return context.print_json(execution);
    }
    let id: String = execution.member_as("executionId").unwrap_or_default();
    context.print(&format!("{}\n", safe::line(&id)))
}

/// The tool, as the server lists it. If it belongs to a server behind a gateway that is still
/// starting, waits for that server.
async fn find(client: &Client, (name, status): (&str, &str)) -> Result<Tool, Failure> {
    let end = Instant::now() + START_TIMEOUT;
    loop {
        let tools = client.tools().await?;
        // Where tools are disclosed by name or search, they are listed without a schema, or not at
        // all.
        if let Some(tool) = described(client, &tools.items, name).await? {
            return Ok(tool);
        }
        if let Some(tool) = tools.items.iter().find(|tool| tool.name == name) {
            return Ok(tool.clone());
        }
        let awaited = owner(&tools.missing, name).is_some_and(|server| !tools.failed.contains(server));
        if !awaited || Instant::now() + PAUSE > end {
            return Err(unknown(&tools, name, status));
        }
        sleep(PAUSE).await;
        client.invalidate();
    }
}

/// The server that a tool of a gateway belongs to, by its name.
fn owner<'a>(servers: &'a [String], tool: &str) -> Option<&'a String> {
    let owns = |server: &&String| tool.strip_prefix(server.as_str()).is_some_and(|own| own.starts_with('_'));
    servers.iter().find(owns)
}

/// `status` is the command that tells why a server behind a gateway is not available.
fn unknown(tools: &Listing<Tool>, name: &str, status: &str) -> Failure {
    let text = format!("the server has no tool named `{name}`");
    let failure = Failure::refused(FaultKind::NotAvailable, text);
    if let Some(bad) = tools.bad.iter().find(|bad| bad.name.as_deref() == Some(name)) {
        return failure.hint(format!("it lists one, but {bad}; --no-check calls it anyway"));
    }
    if let Some(server) = owner(&tools.missing, name) {
        let text = format!("`{server}` is not available, so its tools are not known");
        let fault = Fault::new(FaultKind::Unavailable, text);
        return Failure::unsent(fault.with_action(format!("`{status}` says why")));
    }
    match suggest(name, tools.items.iter().map(|tool| tool.name.as_str())) {
        Some(known) => failure.hint(format!("did you mean `{known}`?")),
        None => failure,
    }
}

/// The definition that our own gateway gives of a tool, if it does not list whole definitions. No
/// other server is asked: its tool of the same name may do anything.
async fn described(client: &Client, listed: &[Tool], name: &str) -> Result<Option<Tool>, Failure> {
    let has_own = listed.iter().any(|tool| tool.name == DESCRIBE);
    if !has_own || client.server().name.as_deref() != Some(GATEWAY) || OWN_TOOLS.contains(&name) {
        return Ok(None);
    }
    let mut arguments = Object::new();
    arguments.set("names".to_owned(), Raw::from(serde_json::json!([name])));
    let result = client.call(DESCRIBE.to_owned(), arguments).await?;
    let blocks = result.content.iter().flatten();
    let mut found = blocks.filter_map(|block| match block {
        ContentBlock::Text(text) => Raw::parse(text.text.clone()).ok()?.decode::<Tool>().ok(),
        _ => None,
    });
    let tool = found.next();
    Ok(tool.filter(|tool| tool.name == name))
}

fn checked(context: &Context, tool: &Tool, given: Vec<Given>) -> Result<Object, Failure> {
    let arguments = arguments::build(given, Some(&tool.input_schema)).map_err(|bad| bad_argument(&bad))?;
    let findings = arguments::check(&tool.input_schema, &arguments);
    findings.warnings.iter().for_each(|warning| context.screen.warn(warning));
    if findings.faults.is_empty() {
        return Ok(arguments);
    }
    let text = format!("`{}` was not called:\n{}", tool.name, findings.faults.join("\n"));
    let failure = Failure::refused(FaultKind::InvalidRequest, text);
    Err(failure.hint("`trunkline list … tools --schema` shows the schema; --no-check sends the call anyway"))
}

fn show(context: &Context, args: &Args, result: &CallToolResult) -> Result<Ending, Failure> {
    let mut renderer = Renderer::new(args.out.clone().map(Out::new));
    renderer.tool_result(result);
    for trouble in &renderer.troubles {
        context.screen.warn(trouble);
    }
    if context.output.json {
        context.print_json(result)?;
    } else {
        context.print(&renderer.text)?;
    }
    Ok(if result.failed() || !renderer.troubles.is_empty() { Ending::ToolError } else { Ending::Fine })
}

fn bad_argument(bad: &BadArgument) -> Failure {
    Failure::refused(FaultKind::InvalidRequest, safe::text(&bad.to_string()))
}
