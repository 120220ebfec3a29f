//! The processes of a test: a server, and a bridge in front of it. They end with the site.

use crate::host::Answering;
use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
};
use trunkline_client::{Client, ConnectOptions, Speak, Target};
use trunkline_protocol::{Era, Revision};

/// How the bridge reaches the server. The client reaches the bridge the other way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upstream {
    Stdio,
    Http,
}

/// One combination.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) client: Revision,
    pub(crate) server: Era,
    pub(crate) upstream: Upstream,
}

pub(crate) struct Site {
    target: Target,
    _processes: Vec<Running>,
}

pub(crate) struct Running(Child);

impl Cell {
    /// All four pairs of eras, over both transports.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let clients = [Revision::NEWEST_LEGACY, Revision::NEWEST];
        clients.into_iter().flat_map(|client| {
            [Era::Legacy, Era::Modern].into_iter().flat_map(move |server| {
                [Upstream::Stdio, Upstream::Http].map(|upstream| Self { client, server, upstream })
            })
        })
    }

    pub(crate) fn site(self) -> Site {
        let era = self.server.to_string();
        match self.upstream {
            Upstream::Stdio => {
                let server = [example().display().to_string(), "--stdio".into(), "--era".into(), era];
                let mut command = bridge();
                command.args(["--listen", "127.0.0.1:0", "--"]).args(server);
                let (running, line) = started(command);
                let told: serde_json::Value = serde_json::from_str(&line).unwrap();
                let target = Target::url(told["endpoint"].as_str().unwrap()).unwrap();
                Site { target, _processes: vec![running] }
            }
            Upstream::Http => {
                let (running, url) = server_over_http(&era);
                let words = [BINARY, "bridge", "--no-cache", &url].map(str::to_owned);
                Site { target: Target::command(words.to_vec()).unwrap(), _processes: vec![running] }
            }
        }
    }
}

impl Site {
    pub(crate) async fn client(&self, revision: Revision, host: Arc<Answering>) -> Client {
        let options = ConnectOptions { speak: Speak::Exactly(revision), host, ..ConnectOptions::default() };
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

/// Beside the tests' own programs.
pub(crate) fn example() -> PathBuf {
    PathBuf::from(BINARY).with_file_name("examples").join("conformance-server")
}

/// Starts a program and reads the line in which it says where it is.
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
