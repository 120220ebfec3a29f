//! A server in the test process that asks questions for clients to answer.

use crate::{
    cell::{Carrier, Cell},
    peers,
    served::place,
};
use serde::Deserialize;
use std::{net::Ipv4Addr, sync::Arc};
use tokio::{
    net::TcpListener,
    sync::watch,
    task::{JoinHandle, JoinSet},
};
use trunkline_serve::{ServeOptions, Server, Shutdown, serve_stdio};
use trunkline_toolbox::{Context, Elicited, JsonSchema, Tool, ToolError, Toolbox, schemars};

pub(crate) const QUESTION: &str = "Who are you?";

/// A server with one tool, which asks the user for a name. Dropping it ends it.
pub(crate) struct Asking {
    /// A URL, or the command that the client starts.
    pub(crate) target: Vec<String>,
    running: JoinHandle<()>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Person {
    name: String,
}

impl Asking {
    pub(crate) async fn start(cell: Cell) -> Self {
        let tool = Tool::new("greet", greet).description("Greets who is there").read_only();
        let toolbox = Arc::new(Toolbox::new("asking", "1.0").tool(tool).build().unwrap());
        let address = (Ipv4Addr::LOCALHOST, 0);
        if cell.carrier == Carrier::Stdio {
            let listener = TcpListener::bind(address).await.unwrap();
            let port = listener.local_addr().unwrap().port();
            return Self { target: peers::pipe(port), running: tokio::spawn(serve_pipes(listener, toolbox)) };
        }
        let server = Server::bind(address.into(), toolbox, ServeOptions::default()).await.unwrap();
        let endpoint = format!("http://{}/mcp", server.address());
        let running = tokio::spawn(async move {
            let (_never, told) = watch::channel(Shutdown::Running);
            server.run(told).await;
        });
        Self { target: vec![place(&endpoint, cell.carrier)], running }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// Serves each connection like the stdio of a process; some clients start a server twice.
async fn serve_pipes(listener: TcpListener, toolbox: Arc<Toolbox>) {
    let mut serving = JoinSet::new();
    while let Ok((pipe, _)) = listener.accept().await {
        let (input, output) = pipe.into_split();
        serving.spawn(serve_stdio(toolbox.clone(), ServeOptions::default(), input, output));
    }
}

async fn greet(cx: Context) -> Result<String, ToolError> {
    match cx.elicit::<Person>(QUESTION).await? {
        Elicited::Accepted(person) => Ok(format!("hello, {}", person.name)),
        _ => Err(ToolError::new("nobody is there")),
    }
}
