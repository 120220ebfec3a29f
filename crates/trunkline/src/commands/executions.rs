//! `executions`: the executions of a running gateway, over its REST interface.

use super::{
    Context, Ending,
    status::{Asker, DEFAULT_ADDRESS, runtime},
};
use crate::{
    args::parse_duration,
    arguments::{self, Given, Stdin},
    environment,
    failure::Failure,
    render::{content::Renderer, safe},
};
use clap::Subcommand;
use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;
use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};
use trunkline_protocol::{Fault, FaultKind, Object, Raw, message::CallToolResult};

/// Timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Longest time that the gateway is asked to wait in one request, in seconds.
const ONE_WAIT: u64 = 20;

/// List, show, wait for, cancel or answer executions of a running gateway
///
/// `trunkline call … --async` starts one. Exit status: 0 fine; 1 the execution failed or has not
/// ended (`show`, `wait`), ended before it was cancelled (`cancel`); 2 the command line is wrong,
/// there is no such execution, or the key or the answer was rejected; 3 the gateway cannot be
/// reached.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    /// The address of the gateway
    #[arg(long, value_name = "URL", default_value = DEFAULT_ADDRESS, global = true)]
    url: String,
    /// API key to send; prefer `TRUNKLINE_KEY`, which other users of this machine cannot read
    #[arg(long, value_name = "KEY", global = true)]
    key: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List your executions that run or whose results are kept
    List {
        /// Only those in this state: queued, running, waiting, done, failed, cancelled or unknown;
        /// may be repeated
        #[arg(long = "state", value_name = "STATE")]
        states: Vec<String>,
        /// Only those of this tool
        #[arg(long, value_name = "TOOL")]
        tool: Option<String>,
        /// Those of all callers; needs a role with `"operate": true`
        #[arg(long)]
        all: bool,
    },
    /// Show one execution
    Show {
        /// The id of the execution
        id: String,
    },
    /// Wait until an execution ends or asks something, and show its result
    Wait {
        /// The id of the execution
        id: String,
        /// Maximum time to wait
        #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse_duration)]
        timeout: Duration,
    },
    /// Cancel an execution
    Cancel {
        /// The id of the execution
        id: String,
    },
    /// Answer a question of an execution
    Answer {
        /// The id of the execution
        id: String,
        /// The answer, as `name=value`, `name:=json` or a whole JSON object
        #[arg(value_name = "ARGUMENT")]
        words: Vec<String>,
        /// The question, if several are open
        #[arg(long, value_name = "ID")]
        question: Option<String>,
        /// Decline to answer
        #[arg(long, conflicts_with = "words")]
        decline: bool,
    },
}

/// An execution as the gateway shows it. Unknown members are accepted.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Shown {
    execution_id: String,
    tool: String,
    state: String,
    created_at: String,
    queue_position: Option<u64>,
    progress: Option<Raw>,
    questions: Vec<Question>,
    result: Option<Raw>,
    error: Option<ErrorShown>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Question {
    id: String,
    message: String,
    schema: Option<Raw>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ErrorShown {
    code: String,
    message: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let key = args.key.as_deref().or(context.environment.get_filled(environment::KEY));
    let gateway = Gateway { address: &args.url, key };
    runtime()?.block_on(async {
        match &args.command {
            Command::List { states, tool, all } => {
                let mut query = url::form_urlencoded::Serializer::new(String::new());
                query.extend_pairs(states.iter().map(|state| ("state", state)));
                query.extend_pairs(tool.iter().map(|tool| ("tool", tool)));
                if *all {
                    query.append_pair("all", "true");
                }
                let page = gateway.ask(Method::GET, &format!("?{}", query.finish()), None).await?;
                list(context, &page)
            }
            Command::Show { id } => {
                let page = gateway.ask(Method::GET, &one(id, ""), None).await?;
                show(context, &page, Wanted::Done)
            }
            Command::Cancel { id } => {
                let page = gateway.ask(Method::DELETE, &one(id, ""), None).await?;
                show(context, &page, Wanted::Cancelled)
            }
            Command::Wait { id, timeout } => show(context, &gateway.wait(id, *timeout).await?, Wanted::Done),
            Command::Answer { id, words, question, decline } => {
                let asked = gateway.ask(Method::GET, &one(id, ""), None).await?;
                let asked: Shown = asked.decode().unwrap_or_default();
                let open = open_question(&asked, question.as_deref());
                let mut body = Object::new();
                if let Some(id) = question.as_deref().or(open.map(|open| open.id.as_str())) {
                    body.set("question", Raw::string(id));
                }
                if *decline {
                    body.set("action", Raw::string("decline"));
                } else {
                    let schema = open.and_then(|open| open.schema.as_ref());
                    body.set("content", content(context, schema, words)?.to_raw());
                }
                let body = body.to_raw();
                let page = gateway.ask(Method::POST, &one(id, "/answer"), Some(body)).await?;
                show(context, &page, Wanted::Accepted)
            }
        }
    })
}

/// The outcome that makes a command succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Done,
    Cancelled,
    /// The gateway took the request; the state does not matter.
    Accepted,
}

/// A running gateway and the key for it.
struct Gateway<'a> {
    address: &'a str,
    key: Option<&'a str>,
}

impl Gateway<'_> {
    async fn ask(&self, method: Method, below: &str, body: Option<Raw>) -> Result<Raw, Failure> {
        let asker = Asker::new(self.address, self.key, &format!("/mcp/executions{below}"))?;
        let (status, page) = asker.request(method, body, TIMEOUT).await?;
        match status {
            _ if status.is_success() => Ok(page),
            StatusCode::NOT_FOUND if below.starts_with('/') => {
                Err(refused(status, &page).hint("`trunkline executions list` shows yours"))
            }
            _ => Err(refused(status, &page)),
        }
    }

    async fn wait(&self, id: &str, limit: Duration) -> Result<Raw, Failure> {
        let until = Instant::now() + limit;
        loop {
            let left = until.saturating_duration_since(Instant::now()).as_secs();
            let page =
                self.ask(Method::GET, &one(id, &format!("?wait={}", left.min(ONE_WAIT))), None).await?;
            let state = page.member_as::<String>("state").unwrap_or_default();
            if left == 0 || !["queued", "running"].contains(&state.as_str()) {
                return Ok(page);
            }
        }
    }
}

/// The path of one execution. Ids have only letters and digits, so others are not sent.
fn one(id: &str, below: &str) -> String {
    let id: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("/{}{below}", if id.is_empty() { "none" } else { &id })
}

/// The failure for an answer that is an error of REST.
pub(crate) fn refused(status: StatusCode, page: &Raw) -> Failure {
    if let Some(error) = page.member_as::<ErrorShown>("error").filter(|error| !error.code.is_empty()) {
        return Failure::usage(safe::text(&format!("{}: {}", error.code, error.message)));
    }
    let text = format!("the gateway answers {status}: {}", page.as_str());
    Failure::connecting(Fault::new(FaultKind::BadAnswer, text))
}

fn list(context: &Context, page: &Raw) -> Result<Ending, Failure> {
    if context.output.json {
        return context.print_json(page);
    }
    let shown: Vec<Shown> = page.member_as("executions").unwrap_or_default();
    if shown.is_empty() {
        context.screen.note("no executions");
    }
    let mut text = String::new();
    for one in &shown {
        let line = format!("{}  {:9}  {}  {}", one.execution_id, one.state, one.created_at, one.tool);
        let _infallible = writeln!(text, "{}", safe::line(&line));
    }
    if page.member("nextCursor").is_some() {
        context.screen.note("there are more; filter with --state or --tool");
    }
    context.print(&text)
}

/// Shows an execution; its result as `call` would.
fn show(context: &Context, page: &Raw, wanted: Wanted) -> Result<Ending, Failure> {
    let shown: Shown = page.decode().unwrap_or_default();
    let is_fine = match wanted {
        Wanted::Done => shown.state == "done",
        Wanted::Cancelled => shown.state == "cancelled",
        Wanted::Accepted => true,
    };
    let ending = if is_fine { Ending::Fine } else { Ending::ToolError };
    if context.output.json {
        context.print_json(page)?;
        return Ok(ending);
    }
    if let Some(result) = shown.result.as_ref().and_then(|result| result.decode::<CallToolResult>().ok()) {
        let mut renderer = Renderer::new(None);
        renderer.tool_result(&result);
        context.print(&renderer.text)?;
        return Ok(ending);
    }
    let mut text = format!("{}: {}", shown.tool, shown.state);
    if let Some(position) = shown.queue_position {
        let _infallible = write!(text, ", position {position}");
    }
    if let Some(progress) = &shown.progress {
        let _infallible = write!(text, ", progress {}", progress.as_str());
    }
    if let Some(error) = &shown.error {
        let _infallible = write!(text, ": {}: {}", error.code, error.message);
    }
    for question in &shown.questions {
        let schema = question.schema.as_ref().map(Raw::as_str).unwrap_or_default();
        let _infallible = write!(text, "\n{}: {} {schema}", question.id, question.message);
    }
    context.print(&format!("{}\n", safe::text(&text)))?;
    Ok(ending)
}

/// The named question, or the first one that is open.
fn open_question<'a>(asked: &'a Shown, named: Option<&str>) -> Option<&'a Question> {
    asked.questions.iter().find(|question| named.is_none_or(|id| question.id == id))
}

/// The content of an answer. The schema of the question decides about the types, and an answer
/// that does not fit it is not sent.
fn content(context: &Context, schema: Option<&Raw>, words: &[String]) -> Result<Object, Failure> {
    let mut stdin = Stdin::default();
    let given: Result<Vec<Given>, _> = words.iter().map(|word| Given::read(word, &mut stdin)).collect();
    let content = given.and_then(|given| arguments::build(given, schema));
    let content = content.map_err(|bad| Failure::usage(safe::text(&bad.to_string())))?;
    let Some(schema) = schema else { return Ok(content) };
    let findings = arguments::check(schema, &content);
    findings.warnings.iter().for_each(|warning| context.screen.warn(&safe::text(warning)));
    if findings.faults.is_empty() {
        return Ok(content);
    }
    let text = format!("the answer was not sent:\n{}", findings.faults.join("\n"));
    Err(Failure::usage(safe::text(&text))
        .hint("`trunkline executions show ID` shows the question; --decline declines to answer"))
}

/// Starts an asynchronous execution with a POST to the URL of `asker`, and returns it.
pub(crate) async fn start(asker: &Asker, arguments: &Object, limit: Duration) -> Result<Raw, Failure> {
    let mut body = Raw::from(json!({"mode": "async"})).object().unwrap_or_default();
    body.set("params", arguments.to_raw());
    let (status, page) = asker.request(Method::POST, Some(body.to_raw()), limit).await?;
    if status == StatusCode::ACCEPTED {
        return Ok(page);
    }
    let failure = refused(status, &page);
    Err(if status == StatusCode::NOT_FOUND {
        failure.hint("--async needs the address of a trunkline gateway, such as http://127.0.0.1:8425/mcp")
    } else {
        failure
    })
}
