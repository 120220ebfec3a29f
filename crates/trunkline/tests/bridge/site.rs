//! The processes of a test: a server, and a bridge or gateway in front of it. Dropping the site
//! kills them.

use crate::host::Answering;
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
};
use tempfile::TempDir;
use trunkline_client::{Client, ConnectOptions, RevisionChoice, Target};
use trunkline_protocol::{Era, Revision};

/// The program between client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Front {
    /// `trunkline bridge`; the client uses the transport that the server does not use.
    Bridge,
    /// `trunkline serve` with a view of the server under its own names, reached over HTTP.
    Gateway,
}

/// The way to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upstream {
    Stdio,
    Http,
}

/// One combination.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) front: Front,
    pub(crate) client: Revision,
    pub(crate) server: Era,
    pub(crate) upstream: Upstream,
}

pub(crate) struct Site {
    target: Target,
    _processes: Vec<Running>,
    _folder: Option<TempDir>,
}

pub(crate) struct Running(Child);

impl Cell {
    /// All four pairs of eras, over both transports, through a bridge.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let clients = [Revision::NEWEST_LEGACY, Revision::NEWEST];
        clients.into_iter().flat_map(|client| {
            [Era::Legacy, Era::Modern].into_iter().flat_map(move |server| {
                [Upstream::Stdio, Upstream::Http].map(|upstream| Self {
                    front: Front::Bridge,
                    client,
                    server,
                    upstream,
                })
            })
        })
    }

    pub(crate) fn site(self) -> Site {
        match (self.front, self.upstream) {
            (Front::Bridge, Upstream::Stdio) => {
                let mut command = bridge();
                command.args(["--listen", "127.0.0.1:0", "--"]).args(self.server_words());
                let (running, endpoint) = endpoint(command);
                Site::new(Target::url(&endpoint).unwrap(), vec![running])
            }
            (Front::Bridge, Upstream::Http) => {
                let (running, url) = server_over_http(&self.server.to_string());
                let words = [BINARY, "bridge", "--no-cache", &url].map(str::to_owned);
                Site::new(Target::command(words.to_vec()).unwrap(), vec![running])
            }
            (Front::Gateway, Upstream::Stdio) => {
                Site::gateway(&json!({"command": self.server_words()}), Vec::new())
            }
            (Front::Gateway, Upstream::Http) => {
                let (running, url) = server_over_http(&self.server.to_string());
                Site::gateway(&json!({ "url": url }), vec![running])
            }
        }
    }

    /// The command that starts the server.
    fn server_words(self) -> [String; 4] {
        [example().display().to_string(), "--stdio".into(), "--era".into(), self.server.to_string()]
    }
}

impl Site {
    fn new(target: Target, processes: Vec<Running>) -> Self {
        Self { target, _processes: processes, _folder: None }
    }

    /// A gateway with this server, and a view with its bare names.
    fn gateway(server: &Value, mut processes: Vec<Running>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("trunkline.json");
        let config = json!({
            "mcp": {"servers": {"fixture": server}},
            "views": {"flat": {"servers": ["fixture"], "naming": "bare"}},
            "audit": {"enabled": false},
        });
        std::fs::write(&file, config.to_string()).unwrap();
        let mut command = Command::new(BINARY);
        command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"]).arg(file);
        command.env("HOME", folder.path());
        let (running, endpoint) = endpoint(command);
        processes.push(running);
        let target = Target::url(&format!("{endpoint}/flat")).unwrap();
        Self { target, _processes: processes, _folder: Some(folder) }
    }

    pub(crate) async fn client(&self, revision: Revision, host: Arc<Answering>) -> Client {
        let options =
            ConnectOptions { speak: RevisionChoice::Exactly(revision), host, ..ConnectOptions::default() };
        Client::connect(&self.target, options).await.unwrap()
    }
}

const BINARY: &str = env!("CARGO_BIN_EXE_trunkline");

/// The conformance server over HTTP, for clients of one era only.
pub(crate) fn server_over_http(era: &str) -> (Running, String) {
    let mut command = Command::new(example());
    command.args(["--era", era]);
    let (running, line) = started(command);
    (running, line.trim().strip_prefix("listening on ").unwrap().to_owned())
}

pub(crate) fn bridge() -> Command {
    let mut command = Command::new(BINARY);
    command.args(["--json", "bridge", "--no-cache"]);
    command
}

/// The example's path, next to the test binaries.
pub(crate) fn example() -> PathBuf {
    PathBuf::from(BINARY).with_file_name("examples").join("conformance-server")
}

/// Starts a program that prints its endpoint on its first line.
fn endpoint(command: Command) -> (Running, String) {
    let (running, line) = started(command);
    let told: Value = serde_json::from_str(&line).unwrap();
    (running, told["endpoint"].as_str().unwrap().to_owned())
}

/// Starts a program and reads its first line, with its address.
fn started(mut command: Command) -> (Running, String) {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Running(child), line)
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}
