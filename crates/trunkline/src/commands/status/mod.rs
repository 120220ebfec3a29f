//! `status`: the state of a running gateway and its servers.

mod fetch;
mod seen;
mod table;

use super::{Context, Ending};
use crate::{args::parse_duration, environment, failure::Failure, stop::Stop};
pub(crate) use fetch::Asker;
use seen::Seen;
use std::time::Duration;
use trunkline_client::Target;
use trunkline_protocol::Raw;

/// Default address of `serve`.
pub(crate) const DEFAULT_ADDRESS: &str = "http://127.0.0.1:8425";

/// Show the state of a running gateway and its servers
///
/// Exit status: 0 all servers are available, 1 at least one is not, 2 the key was rejected, 3 the
/// gateway cannot be reached.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The address of the gateway
    #[arg(value_name = "URL", default_value = DEFAULT_ADDRESS)]
    url: String,
    /// API key to send; prefer `TRUNKLINE_KEY`, which other users of this machine cannot read
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Refresh at this interval until interrupted
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "2s", value_parser = parse_duration)]
    watch: Option<Duration>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let key = args.key.as_deref().or(context.environment.get_filled(environment::KEY));
    let asker = Asker::new(&args.url, key, fetch::STATUS)?;
    runtime()?.block_on(async {
        match args.watch {
            None => show(context, &asker.ask().await?),
            Some(pause) => watch(context, &asker, pause).await,
        }
    })
}

/// The command that shows the state of the gateway with this MCP endpoint.
pub(crate) fn command_for(endpoint: &Target) -> String {
    match endpoint {
        Target::Url(url) => match fetch::gateway_of(url) {
            address if address == DEFAULT_ADDRESS => "trunkline status".to_owned(),
            address => format!("trunkline status {address}"),
        },
        Target::Command(_) => "trunkline status".to_owned(),
    }
}

/// One thread: nothing else runs while the gateway is asked.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::usage(format!("the program cannot start: {error}")))
}

/// Refreshes until interrupted. An unreachable gateway is retried.
async fn watch(context: &Context, asker: &Asker, pause: Duration) -> Result<Ending, Failure> {
    let mut stop = Stop::listen()?;
    loop {
        tokio::select! {
            asked = asker.ask() => match asked {
                Ok(page) => {
                    context.screen.clear();
                    show(context, &page)?;
                }
                Err(failure) if failure.exit_code() == 3 => {
                    context.screen.clear();
                    context.screen.tell(&failure.to_text());
                }
                Err(failure) => return Err(failure),
            },
            _ = stop.stopped() => return Ok(Ending::Fine),
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stop.stopped() => return Ok(Ending::Fine),
        }
    }
}

fn show(context: &Context, page: &Raw) -> Result<Ending, Failure> {
    let seen = Seen::read(page)?;
    if context.output.json {
        context.print_json(page)?;
    } else {
        context.print(&table::text(&seen))?;
    }
    Ok(if seen.is_well() { Ending::Fine } else { Ending::ToolError })
}
