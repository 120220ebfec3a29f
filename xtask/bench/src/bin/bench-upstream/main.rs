//! A server that does next to nothing, so that what is measured is the client.
//!
//! It speaks Streamable HTTP or stdio and both eras, and has one tool, `echo {text}`. On one thread, so that it never takes
//! more than one processor from the client.

mod answer;
mod http;
mod stdio;

use std::net::SocketAddr;

use anyhow::{Result, bail};
use clap::Parser;

use answer::Server;

#[derive(Debug, Parser)]
struct Arguments {
    /// The address to speak HTTP at.
    #[arg(long)]
    listen: Option<SocketAddr>,
    /// Speaks on standard input and output instead.
    #[arg(long)]
    stdio: bool,
    /// Knows only revisions that begin with a handshake.
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
