//! `explain`: the chain of decisions about one call.

use super::{
    Context, Ending,
    status::{Asker, DEFAULT_ADDRESS, runtime},
};
use crate::{
    arguments::{self, Given, Stdin},
    environment,
    failure::Failure,
    render::{BAD, FAINT, NAME, safe},
    wire::{
        gateway::{
            ByConfiguration,
            explain::{PATH, Wanted},
        },
        operator, settings,
    },
};
use serde::Deserialize;
use std::{fmt::Write as _, path::PathBuf, time::Duration};
use trunkline_protocol::{Fault, FaultKind, Raw};

/// Time limit for the gateway's answer.
const LIMIT: Duration = Duration::from_mins(1);
/// Longest call that is sent to a gateway, as JSON.
const MAX_CALL: usize = 4096;

/// Explain why a call passes, is asked about or is refused
///
/// Prints each decision on the way from the configuration to the server: limits, view, filter,
/// roles, policy, lock file, arguments, consent, breaker and connection, each with the rule or
/// setting that made it, and the code of the error that stops the call. Nothing is called, counted
/// or asked.
///
/// A running gateway is asked for its current state. If there is none, the configuration decides,
/// and the tools are those that the servers listed in their last run. Exit status: 0 the call
/// passes, 1 it does not, 2 usage or configuration, 3 the given gateway cannot be reached.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The tool's name in the view, and arguments as for `call`
    #[arg(value_name = "TOOL ARGUMENT", required = true)]
    words: Vec<String>,
    /// All arguments as a JSON object
    #[arg(long = "args", value_name = "JSON")]
    all_arguments: Option<String>,
    #[command(flatten)]
    caller: CallerArgs,
    /// The view, as in `/mcp/<VIEW>` [default: `/mcp`]
    #[arg(long, value_name = "VIEW")]
    view: Option<String>,
    /// The address of the gateway [default: that of `serve`, if one runs there]
    #[arg(long, value_name = "URL", conflicts_with = "offline")]
    url: Option<String>,
    /// API key of an operator; prefer `TRUNKLINE_KEY`, which other users of this machine cannot
    /// read
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Ask no gateway: decide by the configuration alone
    #[arg(long)]
    offline: bool,
    /// Read this file instead of the nearest `trunkline.json` in the current directory or above
    /// it; your own file still counts
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    config: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct CallerArgs {
    /// The caller, as in rules: the id of an API key, `key:<id>`, `jwt:<issuer>#<subject>`,
    /// `cert:<subject>` or `local`
    #[arg(long = "as", value_name = "CALLER")]
    caller: Option<String>,
    /// A role that its token names
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<String>,
    /// A scope of its token
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// A claim of its token
    #[arg(long = "claim", value_name = "NAME=VALUE")]
    claims: Vec<String>,
    /// The name that the client gives itself
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
}

/// An explanation as a gateway tells it. Unknown members are accepted.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Told {
    tool: String,
    caller: String,
    verdict: ToldVerdict,
    links: Vec<ToldLink>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToldVerdict {
    decision: String,
    stage: Option<String>,
    code: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToldLink {
    stage: String,
    decision: String,
    text: String,
    rule: Option<String>,
    code: Option<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let wanted = wanted(args)?;
    let page = explained(context, args, &wanted)?;
    let told: Told = page.decode().map_err(|error| {
        Failure::connecting(Fault::new(FaultKind::BadAnswer, format!("the gateway's answer: {error}")))
    })?;
    if context.output.json {
        context.print_json(&page)?;
    } else {
        context.print(&text(&told))?;
    }
    Ok(if told.verdict.decision == "passes" { Ending::Fine } else { Ending::Findings })
}

fn wanted(args: &Args) -> Result<Wanted, Failure> {
    let (tool, words) = args.words.split_first().ok_or_else(|| Failure::usage("there is no tool"))?;
    let mut stdin = Stdin::default();
    let words = args.all_arguments.iter().chain(words);
    let given: Result<Vec<Given>, _> = words.map(|word| Given::read(word, &mut stdin)).collect();
    let arguments = given.and_then(|given| arguments::build(given, None));
    let arguments = arguments.map_err(|bad| Failure::usage(safe::text(&bad.to_string()).into_owned()))?;
    let arguments =
        arguments.iter().map(|(name, value)| (name.to_owned(), value.decode().unwrap_or_default()));
    let mut wanted = Wanted {
        tool: tool.clone(),
        view: args.view.clone(),
        caller: args.caller.caller.clone(),
        roles: args.caller.roles.clone(),
        scopes: args.caller.scopes.clone(),
        client: args.caller.client.clone(),
        arguments: arguments.collect(),
        ..Wanted::default()
    };
    for (name, value) in super::pairs(&args.caller.claims.iter().map(String::as_str).collect::<Vec<_>>())? {
        wanted.claims.entry(name).or_default().push(value);
    }
    Ok(wanted)
}

fn explained(context: &Context, args: &Args, wanted: &Wanted) -> Result<Raw, Failure> {
    if args.offline || args.config.is_some() {
        return by_configuration(context, args, wanted);
    }
    let asked = ask(context, args, wanted);
    match asked {
        Err(failure) if failure.exit_code() == 3 && args.url.is_none() => {
            context.screen.note("no gateway runs at the usual address; this is by the configuration");
            by_configuration(context, args, wanted)
        }
        asked => asked,
    }
}

fn by_configuration(context: &Context, args: &Args, wanted: &Wanted) -> Result<Raw, Failure> {
    let loaded = settings::load(context, args.config.as_deref(), Vec::new())?;
    let explanation = crate::runtime::start()?.block_on(async {
        let deciding = ByConfiguration::start(&loaded, &context.environment).await?;
        let explanation = deciding.explainer().explain(wanted, None).await;
        deciding.stop().await;
        Ok::<_, Failure>(explanation)
    })?;
    Raw::encode(&explanation).map_err(|error| Failure::usage(error.to_string()))
}

fn ask(context: &Context, args: &Args, wanted: &Wanted) -> Result<Raw, Failure> {
    let key = args.key.as_deref().or(context.environment.get_filled(environment::KEY));
    let url = args.url.as_deref().unwrap_or(DEFAULT_ADDRESS);
    let call = serde_json::to_string(wanted).map_err(|error| Failure::usage(error.to_string()))?;
    if call.len() > MAX_CALL {
        let text =
            format!("the call has {} bytes, more than the {MAX_CALL} that a gateway takes", call.len());
        return Err(Failure::usage(text).hint("--offline explains it by the configuration"));
    }
    let asker = Asker::new(url, key, &format!("/control/{PATH}"))?.with_query(&[("call", call)]);
    let asker = operator::proven(asker, key, &context.environment)?;
    runtime()?.block_on(asker.operate(LIMIT))
}

fn text(told: &Told) -> String {
    let mut text = String::new();
    let mut line = |words: String| writeln!(text, "{words}").expect("a String takes any text");
    line(format!("{NAME}{}{NAME:#} for {}", safe::line(&told.tool), safe::line(&told.caller)));
    for link in &told.links {
        let code = link.code.as_ref().map(|code| format!(" [{code}]")).unwrap_or_default();
        let mark = match link.decision.as_str() {
            "passes" => "ok     ",
            "stops" => "STOPS  ",
            "asks" => "ASKS   ",
            "unknown" => "?      ",
            _ => "-      ",
        };
        let style = if matches!(link.decision.as_str(), "stops" | "asks") { BAD } else { FAINT };
        let words = safe::line(&link.text);
        line(format!("{style}{mark}{style:#} {:13} {words}{code}", safe::line(&link.stage)));
        if let Some(rule) = &link.rule {
            line(format!("{:22}{FAINT}by {}{FAINT:#}", "", safe::line(rule)));
        }
    }
    let by = told.verdict.stage.as_ref().map(|stage| format!(" by {stage}")).unwrap_or_default();
    let code = told.verdict.code.as_ref().map(|code| format!(", {code}")).unwrap_or_default();
    let verdict = match told.verdict.decision.as_str() {
        "passes" => "the call would be sent".to_owned(),
        "stops" => format!("the call would be refused{by}{code}"),
        "asks" => "the call would wait for the consent of a person".to_owned(),
        _ => format!("decided{by} when the call is made"),
    };
    line(safe::line(&verdict));
    text
}
