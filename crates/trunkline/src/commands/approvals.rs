//! `approvals`: calls that wait for an operator's consent.

use super::{
    Context, Ending,
    status::{Asker, DEFAULT_ADDRESS, runtime},
};
use crate::{
    args::parse_duration,
    environment,
    failure::Failure,
    render::safe,
    wire::{gateway::approvals::PATH, operator},
};
use serde::Deserialize;
use std::{fmt::Write as _, time::Duration};
use trunkline_protocol::Raw;

/// Time limit for the gateway's answer.
const LIMIT: Duration = Duration::from_secs(30);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Act,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    /// List the calls that wait, and those decided in the last days
    List(Place),
    /// Show one call with its arguments
    Show(One),
    /// Agree to a call
    Approve(Agreement),
    /// Refuse a call
    Deny(Refusal),
}

#[derive(Debug, clap::Args)]
struct Place {
    /// The address of the gateway
    #[arg(long, value_name = "URL", default_value = DEFAULT_ADDRESS)]
    url: String,
    /// API key to send; prefer `TRUNKLINE_KEY`, which other users of this machine cannot read
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

#[derive(Debug, clap::Args)]
struct One {
    /// The id of the approval
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, clap::Args)]
struct Agreement {
    #[command(flatten)]
    one: One,
    /// The calls of this tool that you agree to
    #[arg(long = "for", value_name = "SCOPE", default_value = "once")]
    scope: Scope,
    /// Time for which the agreement holds, such as `30m` or `8h`; needed by `caller` and `tool`
    #[arg(long, value_name = "TIME", value_parser = parse_duration,
        required_if_eq_any = [("scope", "caller"), ("scope", "tool")])]
    lasting: Option<Duration>,
    /// A note for the record
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Refusal {
    #[command(flatten)]
    one: One,
    /// The reason, which the caller is told
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Scope {
    /// This call only
    Once,
    /// Until the client's session or connection ends
    Session,
    /// All calls by this caller, for a time
    Caller,
    /// All calls by any caller, for a time
    Tool,
}

impl Scope {
    fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Caller => "caller",
            Self::Tool => "tool",
        }
    }
}

/// A record as the gateway tells it. Unknown members are accepted.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Record {
    id: String,
    state: String,
    tool: String,
    caller: String,
    client: String,
    session: bool,
    arguments: String,
    rule: String,
    reason: Option<String>,
    asked_at: String,
    expires_at: String,
    decided_by: Option<String>,
    decided_at: Option<String>,
    scope: Option<String>,
    note: Option<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    match &args.command {
        Act::List(place) => {
            let page = ask(context, place, PATH, &[])?;
            if context.output.json {
                return context.print_json(&page);
            }
            let all: Vec<Record> = page.member_as("approvals").unwrap_or_default();
            context.print(&list(&all))
        }
        Act::Show(one) => tell(context, &ask(context, &one.place, &format!("{PATH}/{}", one.id), &[])?),
        Act::Approve(agreement) => {
            let mut query = vec![("for", agreement.scope.as_str().to_owned())];
            let lasting = agreement.lasting;
            query.extend(lasting.map(|time| ("lasting", format!("{}ms", time.as_millis()))));
            query.extend(agreement.note.clone().map(|note| ("note", note)));
            decide(context, &agreement.one, "approve", &query)
        }
        Act::Deny(refusal) => {
            let query: Vec<_> = refusal.note.clone().map(|note| ("note", note)).into_iter().collect();
            decide(context, &refusal.one, "deny", &query)
        }
    }
}

fn decide(context: &Context, one: &One, act: &str, query: &[(&str, String)]) -> Result<Ending, Failure> {
    tell(context, &ask(context, &one.place, &format!("{PATH}/{}/{act}", one.id), query)?)
}

fn ask(context: &Context, place: &Place, path: &str, query: &[(&str, String)]) -> Result<Raw, Failure> {
    let key = place.key.as_deref().or(context.environment.get_filled(environment::KEY));
    let asker = Asker::new(&place.url, key, &format!("/control/{path}"))?.with_query(query);
    let asker = operator::proven(asker, key, &context.environment)?;
    runtime()?.block_on(asker.operate(LIMIT))
}

fn tell(context: &Context, page: &Raw) -> Result<Ending, Failure> {
    if context.output.json {
        return context.print_json(page);
    }
    let record: Record = page.decode().unwrap_or_default();
    let mut text = String::new();
    let rows = [
        ("approval", Some(record.id)),
        ("state", Some(record.state)),
        ("tool", Some(record.tool)),
        ("caller", Some(record.caller)),
        ("client", Some(record.client).filter(|client| !client.is_empty())),
        ("session", Some(if record.session { "yes" } else { "no" }.to_owned())),
        ("arguments", Some(record.arguments)),
        ("reason", record.reason),
        ("rule", Some(record.rule)),
        ("asked", Some(record.asked_at)),
        ("expires", Some(record.expires_at)),
        ("decided by", record.decided_by),
        ("decided", record.decided_at),
        ("scope", record.scope),
        ("note", record.note),
    ];
    for (name, value) in rows {
        if let Some(value) = value {
            writeln!(text, "{name:11} {}", safe::line(&value)).expect("a String takes any text");
        }
    }
    context.print(&text)
}

fn list(all: &[Record]) -> String {
    if all.is_empty() {
        return "no call waits for approval\n".to_owned();
    }
    let mut text = String::new();
    for record in all {
        let line = format!(
            "{}  {:9}  {}  {} by {}",
            record.id, record.state, record.asked_at, record.tool, record.caller
        );
        writeln!(text, "{}", safe::line(&line)).expect("a String takes any text");
    }
    text
}
