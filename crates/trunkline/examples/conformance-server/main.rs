//! The server for the server scenarios of the official conformance suite:
//! `conformance-server --listen ADDR`.
//!
//! The suite knows the tools, resources and prompts by name. They are written with the toolbox
//! like any others; shared content is in `content`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that says where it listens")]

mod content;
mod prompts;
mod questions;
mod resources;
mod rounds;
mod tasks;
mod tools;

use clap::{Parser, ValueEnum};
use std::{error::Error, net::SocketAddr, process::ExitCode, sync::Arc};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};
use trunkline_protocol::Era;
use trunkline_serve::{Eras, ServeOptions, Server, Shutdown, serve_stdio};
use trunkline_toolbox::{BuildError, Toolbox};

/// Offers the tools, resources and prompts of the conformance suite.
#[derive(Debug, Parser)]
struct Args {
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDR", conflicts_with = "stdio")]
    listen: SocketAddr,
    /// Serve on standard input and output instead.
    #[arg(long)]
    stdio: bool,
    /// Eras of clients to serve.
    #[arg(long, value_enum, default_value = "both")]
    era: ServedEra,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ServedEra {
    Legacy,
    Modern,
    Both,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Args) -> Result<(), Box<dyn Error>> {
    let toolbox = Arc::new(toolbox()?);
    let options = ServeOptions { eras: args.era.into(), ..ServeOptions::default() };
    if args.stdio {
        return Ok(serve_stdio(toolbox, options, tokio::io::stdin(), tokio::io::stdout()).await?);
    }
    let server = Server::bind(args.listen, toolbox, options).await?;
    let mut terminate = signal(SignalKind::terminate())?;
    println!("listening on http://{}/mcp", server.address());
    let (tell, told) = watch::channel(Shutdown::Running);
    tokio::spawn(async move {
        terminate.recv().await;
        tell.send_replace(Shutdown::Drain);
        terminate.recv().await;
        tell.send_replace(Shutdown::Now);
    });
    server.run(told).await;
    Ok(())
}

fn toolbox() -> Result<Toolbox, BuildError> {
    let builder = Toolbox::new("trunkline-conformance-server", env!("CARGO_PKG_VERSION"))
        .instructions("Everything here exists to be called by the conformance suite.")
        .tools(tools::all())
        .tools(questions::all())
        .tools(rounds::all())
        .tools(tasks::all());
    prompts::add(resources::add(builder)).build()
}

impl From<ServedEra> for Eras {
    fn from(era: ServedEra) -> Self {
        match era {
            ServedEra::Legacy => Self::Only(Era::Legacy),
            ServedEra::Modern => Self::Only(Era::Modern),
            ServedEra::Both => Self::Both,
        }
    }
}
