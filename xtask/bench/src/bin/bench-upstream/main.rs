//! A minimal server, so that the measurement shows the client's cost.
//!
//! It speaks Streamable HTTP or stdio and both eras, and has one tool, `echo {text}`. It runs on
//! one thread, so that it never takes more than one CPU from the client.

mod answer;
mod http;
mod stdio;

use std::net::SocketAddr;

use anyhow::{Result, bail};
use clap::Parser;

use answer::Server;

#[derive(Debug, Parser)]
struct Arguments {
    /// Address to listen on for HTTP.
    #[arg(long)]
    listen: Option<SocketAddr>,
    /// Use standard input and output instead of HTTP.
    #[arg(long)]
    stdio: bool,
    /// Support only revisions that begin with `initialize`.
    #[arg(long)]
    legacy: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let server = if arguments.legacy { Server::Legacy } else { Server::Modern };
    match (arguments.listen, arguments.stdio) {
        (Some(address), false) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(http::serve(address, server))
        }
        (None, true) => stdio::serve(server),
        _ => bail!("give either --listen ADDRESS or --stdio"),
    }
}
