//! What the clients connect to: the binary that serves a folder, and a server of the test's own that asks questions.

use crate::cell::{Carrier, Cell};
use serde::Deserialize;
use std::{fs, net::Ipv4Addr, process::Stdio, sync::Arc};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    sync::watch,
    task::JoinHandle,
};
use trunkline_serve::{ServeOptions, Server, Shutdown};
use trunkline_tools::{Context, Elicited, JsonSchema, Tool, ToolError, Toolbox, schemars};

pub(crate) const TEXT: &str = "hello from a file\n";
pub(crate) const QUESTION: &str = "Who are you?";

/// A server of a folder with one file. Dropping it ends what was started for it.
pub(crate) struct Served {
    /// A URL, or the words of a command.
    pub(crate) target: Vec<String>,
    _process: Option<Child>,
    _folder: TempDir,
}

/// A server with one tool, which asks the user for a name.
pub(crate) struct Asking {
    pub(crate) target: Vec<String>,
    stop: watch::Sender<Shutdown>,
    running: JoinHandle<()>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Person {
    name: String,
}

impl Served {
    pub(crate) async fn start(cell: Cell) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("hello.txt"), TEXT).unwrap();
        let root = folder.path().display().to_string();
        let binary = env!("CARGO_BIN_EXE_trunkline");
        if cell.carrier == Carrier::Stdio {
            let words = [binary, "serve", "--stdio", "--no-audit", "--root", &root];
            let target = words.map(str::to_owned).to_vec();
            return Self { target, _process: None, _folder: folder };
        }
        let mut process = Command::new(binary)
            .args(["serve", "--json", "--listen", "127.0.0.1:0", "--no-audit", "--root", &root])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).await.unwrap();
        let told: serde_json::Value = serde_json::from_str(&line).unwrap();
        let endpoint = told["endpoint"].as_str().unwrap();
        Self { target: vec![place(endpoint, cell.carrier)], _process: Some(process), _folder: folder }
    }
}

impl Asking {
    pub(crate) async fn start(cell: Cell) -> Self {
        let tool = Tool::new("greet", greet).description("Greets who is there").read_only();
        let toolbox = Toolbox::new("asking", "1.0").tool(tool).build().unwrap();
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        let server = Server::bind(address, Arc::new(toolbox), ServeOptions::default()).await.unwrap();
        let endpoint = format!("http://{}/mcp", server.address());
        let (stop, told) = watch::channel(Shutdown::Running);
        let running = tokio::spawn(async move { server.run(told).await });
        Self { target: vec![place(&endpoint, cell.carrier)], stop, running }
    }

    pub(crate) async fn end(self) {
        self.stop.send_replace(Shutdown::Now);
        self.running.await.unwrap();
    }
}

async fn greet(cx: Context) -> Result<String, ToolError> {
    match cx.elicit::<Person>(QUESTION).await? {
        Elicited::Accepted(person) => Ok(format!("hello, {}", person.name)),
        _ => Err(ToolError::new("nobody is there")),
    }
}

fn place(endpoint: &str, carrier: Carrier) -> String {
    match carrier {
        Carrier::Sse => endpoint.replace("/mcp", "/sse"),
        Carrier::Stdio | Carrier::Http => endpoint.to_owned(),
    }
}
