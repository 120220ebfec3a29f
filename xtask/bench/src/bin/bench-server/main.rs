//! A server with one tool, `echo {text}`, built with our crates or with rmcp, to compare the two.
//!
//! The first line on stdout is `listening on URL`.

#![expect(clippy::print_stdout, reason = "the parent process reads the address")]

mod ours;
mod rmcp;

use std::net::SocketAddr;

use anyhow::Result;
use clap::{Parser, ValueEnum};

#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long)]
    server: Kind,
    /// Address to listen on; port 0 picks a free port.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Trunkline,
    /// Default settings: sessions for legacy clients, and every response is an event stream.
    Rmcp,
    /// Fastest settings: no sessions, and responses as plain JSON.
    RmcpJson,
}

const NAME: &str = "bench-server";
const DESCRIPTION: &str = "Returns its text.";

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    match arguments.server {
        Kind::Trunkline => ours::serve(arguments.listen).await,
        Kind::Rmcp => rmcp::serve(arguments.listen, rmcp::Answers::Streams).await,
        Kind::RmcpJson => rmcp::serve(arguments.listen, rmcp::Answers::Json).await,
    }
}

fn announce(address: SocketAddr) {
    println!("listening on http://{address}/mcp");
}
