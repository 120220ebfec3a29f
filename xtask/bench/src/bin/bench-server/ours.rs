//! The server made with our crates.

use std::{net::SocketAddr, sync::Arc, thread};

use anyhow::Result;
use serde::Deserialize;
use tokio::sync::watch;
use trunkline_serve::{ServeOptions, Server, Shutdown, WorkerThreads};
use trunkline_toolbox::{JsonSchema, Tool, Toolbox, schemars};

use super::{DESCRIPTION, NAME, announce};

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

pub(crate) async fn serve(address: SocketAddr) -> Result<()> {
    let tool = Tool::new("echo", |given: Echo| async move { given.text }).description(DESCRIPTION);
    let toolbox = Toolbox::new(NAME, env!("CARGO_PKG_VERSION")).tool(tool.read_only()).build()?;
    let threads = WorkerThreads::start(thread::available_parallelism()?.get())?;
    let options = ServeOptions { workers: threads.workers(), ..ServeOptions::default() };
    let server = Server::bind(address, Arc::new(toolbox), options).await?;
    announce(server.address());
    // Kept alive so that the channel stays open; the server runs until it is killed.
    let (_never, shutdown) = watch::channel(Shutdown::Running);
    server.run(shutdown).await;
    Ok(())
}
