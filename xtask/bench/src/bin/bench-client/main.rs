//! Repeats one request as fast as possible, with our client or with rmcp's, and prints the cost.
//!
//! The result is one line of JSON: the calls answered in the measured time, that time, the CPU
//! time of this process (system calls included, the server excluded), the CPU time of the server
//! if it is watched, and the failed calls.

#![expect(clippy::print_stdout, reason = "printing the result is the program's purpose")]

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
    /// URL of the server, unless a command is given.
    #[arg(long)]
    url: Option<String>,
    /// Calls in flight at any time.
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Seconds of warm-up before the measurement begins.
    #[arg(long, default_value_t = 0.5)]
    warm_up: f64,
    /// Threads of the runtime; one per CPU unless given.
    #[arg(long)]
    threads: Option<usize>,
    #[arg(long, default_value = "call")]
    ask: Ask,
    /// Process id of the server, to report its CPU time too.
    #[arg(long)]
    watch: Option<u32>,
    /// The command that starts the server.
    #[arg(last = true)]
    command: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Trunkline,
    /// Default settings: a new connection for every call.
    Rmcp,
    /// With an HTTP client that keeps connections alive.
    RmcpPooled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// The request that is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ask {
    /// `tools/call` of `echo`.
    Call,
    /// `tools/list`, bypassing the client's cache.
    List,
}

/// The way to the server.
#[derive(Debug)]
pub(crate) enum Place {
    Url(String),
    Command { program: String, arguments: Vec<String> },
}

/// A client that can call the server's `echo` tool.
pub(crate) trait Echo: Clone + Send + 'static {
    /// Calls `echo`; true if the answer was the text.
    fn echo(&self, text: String) -> impl Future<Output = Result<bool>> + Send;

    /// Lists the tools; true if `echo` is the only one.
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
