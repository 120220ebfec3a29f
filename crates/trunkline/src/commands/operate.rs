//! `start`, `stop` and `restart`: operates one server of a running gateway.

use super::{
    Context, Ending,
    status::{Asker, DEFAULT_ADDRESS, runtime},
};
use crate::{
    args::parse_duration, environment, failure::Failure, render::safe, wire::gateway::operate::Operation,
};
use http::StatusCode;
use serde::Deserialize;
use std::time::Duration;
use trunkline_protocol::{Fault, FaultKind, Raw};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The name of the server in the configuration
    #[arg(value_name = "SERVER")]
    server: String,
    /// The address of the gateway
    #[arg(value_name = "URL", default_value = DEFAULT_ADDRESS)]
    url: String,
    /// API key to send; prefer `TRUNKLINE_KEY`, which other users of this machine cannot read
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Maximum time to wait for the gateway: calls in flight are drained (`limits.drain`), and the
    /// server has to start
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_duration)]
    timeout: Duration,
}

/// The answer of the gateway. Unknown members are accepted.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Answer {
    state: String,
    last_error: Option<LastError>,
    error: Option<String>,
    servers: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LastError {
    code: String,
    text: String,
}

pub(crate) fn run(context: &Context, args: &Args, operation: Operation) -> Result<Ending, Failure> {
    let key = args.key.as_deref().or(context.environment.get_filled(environment::KEY));
    let server = &args.server;
    if server.parse::<trunkline_protocol::ServerName>().is_err() {
        return Err(Failure::usage(format!("`{}` is not the name of a server", safe::line(server))));
    }
    let asker = Asker::new(&args.url, key, &format!("/control/{server}/{operation}"))?;
    let (status, page) = runtime()?.block_on(asker.command(args.timeout))?;
    let answer: Answer = page.decode().unwrap_or_default();
    if status != StatusCode::OK {
        return Err(refused(&answer, status, &page));
    }
    let is_done = match operation {
        Operation::Stop => answer.state == "stopped",
        Operation::Start | Operation::Restart => answer.state == "ready",
    };
    if context.output.json {
        context.print_json(&page)?;
    } else {
        context.print(&text(server, &answer))?;
    }
    Ok(if is_done { Ending::Fine } else { Ending::ToolError })
}

fn text(server: &str, answer: &Answer) -> String {
    let error = answer.last_error.as_ref().filter(|_| answer.state != "stopped");
    let why = error.map(|error| format!(": [{}] {}", error.code, error.text)).unwrap_or_default();
    format!("{}\n", safe::line(&format!("{server}: {}{why}", answer.state)))
}

fn refused(answer: &Answer, status: StatusCode, page: &Raw) -> Failure {
    let Some(error) = &answer.error else {
        let text = format!("the gateway answers {status}: {}", page.as_str());
        return Failure::connecting(Fault::new(FaultKind::BadAnswer, text));
    };
    let failure = Failure::usage(error.clone());
    if answer.servers.is_empty() {
        return failure;
    }
    failure.hint(format!("the gateway has {}", answer.servers.join(", ")))
}
