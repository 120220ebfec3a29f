//! Asks one thing as fast as it can, with our client or with rmcp's, and prints what that cost.
//!
//! The result is one line of JSON: the calls that were answered in the measured time, that time, the processor time this
//! process used meanwhile (system calls included, the server's not), that of the server where it is watched, and the calls
//! that went wrong.

#![expect(clippy::print_stdout, reason = "the result is what this program is for")]

mod load;
mod ours;
mod rmcp;
mod watched;

use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};
use serde_json::json;

use load::Load;
use watched::Watched;

#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long)]
    client: Kind,
    #[arg(long)]
    era: Era,
    /// The address of the server, where it is no command.
    #[arg(long)]
    url: Option<String>,
    /// Calls that are under way at any time.
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// How long to call before the measurement begins.
    #[arg(long, default_value_t = 0.5)]
    warm_up: f64,
    /// Threads of the runtime; as many as there are processors unless given.
    #[arg(long)]
    threads: Option<usize>,
    #[arg(long, default_value = "call")]
    ask: Ask,
    /// The server's process, to report its processor time too.
    #[arg(long)]
    watch: Option<u32>,
    /// The command that starts the server.
    #[arg(last = true)]
    command: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Trunkline,
    /// As it comes: it opens a connection for every call.
    Rmcp,
    /// With an HTTP client that keeps its connections.
    RmcpPooled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// What is asked of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ask {
    /// `tools/call` of `echo`.
    Call,
    /// `tools/list`, past any memory of the client's.
    List,
}

/// Where the server is.
#[derive(Debug)]
pub(crate) enum Place {
    Url(String),
    Command { program: String, arguments: Vec<String> },
}

/// Something that can use the server's `echo`.
pub(crate) trait Echo: Clone + Send + 'static {
    /// Calls `echo` and says whether the answer was the text.
    fn echo(&self, text: String) -> impl Future<Output = Result<bool>> + Send;

    /// Lists the tools and says whether `echo` is the only one.
    fn list(&self) -> impl Future<Output = Result<bool>> + Send;
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if let Some(threads) = arguments.threads {
        runtime.worker_threads(threads);
    }
    runtime.enable_all().build()?.block_on(run(arguments))
}

async fn run(arguments: Arguments) -> Result<()> {
    let place = match (arguments.url, arguments.command.split_first()) {
        (Some(url), None) => Place::Url(url),
        (None, Some((program, rest))) => {
            Place::Command { program: program.clone(), arguments: rest.to_vec() }
        }
        _ => bail!("give either --url or a command after --"),
    };
    let load = Load {
        ask: arguments.ask,
        concurrency: arguments.concurrency,
        warm_up: Duration::try_from_secs_f64(arguments.warm_up)?,
        measured: Duration::try_from_secs_f64(arguments.seconds)?,
        watched: arguments.watch.map(Watched::new),
    };
    let cost = match arguments.client {
        Kind::Trunkline => ours::measure(&place, arguments.era, load).await?,
        Kind::Rmcp => rmcp::measure(place, arguments.era, rmcp::Pool::None, load).await?,
        Kind::RmcpPooled => rmcp::measure(place, arguments.era, rmcp::Pool::Kept, load).await?,
    };
    let cost = json!({
        "calls": cost.calls,
        "errors": cost.errors,
        "seconds": cost.time.as_secs_f64(),
        "cpu_seconds": cost.cpu.as_secs_f64(),
        "server_cpu_seconds": cost.server_cpu.map(|time| time.as_secs_f64()),
    });
    println!("{cost}");
    Ok(())
}
