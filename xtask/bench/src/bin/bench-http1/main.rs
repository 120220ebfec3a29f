//! The same echo service behind our HTTP/1.1 and behind hyper, called by our client or hyper's.
//!
//! Server and client have one thread each, so that the CPU time of each can be measured. The
//! result is one line of JSON in the format of `bench-client`.

#![expect(clippy::print_stdout, reason = "printing the result is the program's purpose")]

mod client;
mod server;

use anyhow::{Result, anyhow};
use bytes::Bytes;
use clap::{Parser, ValueEnum};
use mimalloc::MiMalloc;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::{
    net::{SocketAddr, TcpListener},
    thread,
    time::{Duration, Instant},
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::oneshot,
};

/// The allocator of the `trunkline` binary.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// A body as large as that of a small call.
const BODY: Bytes = Bytes::from_static(
    br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}"#,
);
/// Headers of a call other than the connection's own.
const HEADERS: [(&str, &str); 5] = [
    ("accept", "application/json, text/event-stream"),
    ("content-type", "application/json"),
    ("mcp-protocol-version", "2026-07-28"),
    ("mcp-method", "tools/call"),
    ("mcp-name", "echo"),
];

#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long)]
    server: Kind,
    #[arg(long)]
    client: Kind,
    /// Connections, each with one request in flight.
    #[arg(long, default_value_t = 32)]
    concurrency: usize,
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Http1,
    Hyper,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let (stop, stopped) = oneshot::channel();
    let server = thread::spawn(move || serve(listener, arguments.server, stopped));
    let (requests, seconds, cpu_seconds) = call(address, &arguments)?;
    drop(stop);
    let server_cpu_seconds = server.join().map_err(|_| anyhow!("the server panicked"))??.as_secs_f64();
    let result = json!({
        "calls": requests,
        "errors": 0,
        "seconds": seconds.as_secs_f64(),
        "cpu_seconds": cpu_seconds.as_secs_f64(),
        "server_cpu_seconds": server_cpu_seconds,
    });
    println!("{result}");
    Ok(())
}

/// Serves until `stopped` resolves; returns the CPU time of its thread.
fn serve(listener: TcpListener, kind: Kind, stopped: oneshot::Receiver<()>) -> Result<Duration> {
    let runtime = runtime()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        tokio::select! {
            served = server::serve(listener, kind) => served?,
            _ = stopped => {}
        }
        anyhow::Ok(())
    })?;
    Ok(thread_time())
}

/// Returns the number of answered requests, the elapsed time and the CPU time of this thread.
fn call(address: SocketAddr, arguments: &Arguments) -> Result<(u64, Duration, Duration)> {
    let (began, used) = (Instant::now(), thread_time());
    let until = began + Duration::from_secs_f64(arguments.seconds);
    let requests = runtime()?.block_on(async {
        let clients: Vec<_> = (0..arguments.concurrency)
            .map(|_| tokio::spawn(client::run(arguments.client, address, until)))
            .collect();
        let mut requests = 0;
        for client in clients {
            requests += client.await??;
        }
        anyhow::Ok(requests)
    })?;
    Ok((requests, began.elapsed(), thread_time().saturating_sub(used)))
}

fn runtime() -> Result<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

/// CPU time of this thread, system calls included.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}
