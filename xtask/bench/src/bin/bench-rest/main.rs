//! Echo over REST, with identity, limits and audit, beside a bare axum handler that parses and
//! echoes the same JSON; called by our HTTP client.
//!
//! The client has one thread, whose CPU time is measured apart; the rest of the process is the
//! server. The result is one line of JSON in the format of `bench-client`.

#![expect(clippy::print_stdout, reason = "printing the result is the program's purpose")]

mod client;
mod server;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use mimalloc::MiMalloc;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::{
    thread,
    time::{Duration, Instant},
};
use tokio::runtime::Builder;

/// The allocator of the `trunkline` binary.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const PATH: &str = "/mcp/tools/echo/execute";
const BODY: &str = r#"{"params":{"text":"hello"},"context":{"priority":"normal"}}"#;

#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long)]
    server: Kind,
    /// Connections, each with one request in flight.
    #[arg(long, default_value_t = 32)]
    concurrency: usize,
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Trunkline,
    Axum,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let (tell, told) = std::sync::mpsc::channel();
    let kind = arguments.server;
    // The process ends with the client; the server never does.
    thread::spawn(move || server::serve(kind, &tell));
    let (address, token) = told.recv()?;
    let (began, before, own) = (Instant::now(), time(ClockId::ProcessCPUTime), time(ClockId::ThreadCPUTime));
    let until = began + Duration::from_secs_f64(arguments.seconds);
    let calls = Builder::new_current_thread().enable_all().build()?.block_on(async {
        let clients: Vec<_> = (0..arguments.concurrency)
            .map(|_| tokio::spawn(client::run(address, token.clone(), until)))
            .collect();
        let mut calls = 0;
        for client in clients {
            calls += client.await??;
        }
        anyhow::Ok(calls)
    })?;
    let client = time(ClockId::ThreadCPUTime).saturating_sub(own);
    let whole = time(ClockId::ProcessCPUTime).saturating_sub(before);
    let result = json!({
        "calls": calls,
        "errors": 0,
        "seconds": began.elapsed().as_secs_f64(),
        "cpu_seconds": client.as_secs_f64(),
        "server_cpu_seconds": whole.saturating_sub(client).as_secs_f64(),
    });
    println!("{result}");
    Ok(())
}

fn time(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}
