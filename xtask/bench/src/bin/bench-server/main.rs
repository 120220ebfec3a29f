//! A server with one tool, `echo {text}`, made with our crates or with rmcp, so that the two can be measured.
//!
//! The first line on stdout is `listening on URL`.

#![expect(clippy::print_stdout, reason = "whoever starts it must learn the address")]

mod ours;
mod rmcp;

use std::net::SocketAddr;

use anyhow::Result;
use clap::{Parser, ValueEnum};

#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long)]
    server: Kind,
    /// The address to speak HTTP at; port 0 means any free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Trunkline,
    /// As it comes: sessions for legacy clients, and every answer a stream of events.
    Rmcp,
    /// At its fastest: no sessions, and answers as plain JSON.
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
