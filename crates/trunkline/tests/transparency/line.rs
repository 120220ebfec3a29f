//! A minimal stdio client: directly to the server, or to a bridge in front of it.

use super::exchange::Era;
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

/// Timeout for one response.
const HANG: Duration = Duration::from_mins(1);

/// The bridge's way to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Stdio,
    Http,
}

pub(crate) struct Line {
    child: Child,
    /// The server or gateway behind the bridge, if it is not a child of the bridge.
    _server: Option<Child>,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Line {
    pub(crate) fn direct(era: Era) -> Self {
        Self::start(planted(era), None)
    }

    pub(crate) async fn through(era: Era, transport: Transport) -> Self {
        let mut bridge = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        bridge.arg("bridge");
        let server = match transport {
            Transport::Stdio => {
                let server = planted(era);
                let server = server.as_std();
                bridge.arg("--").arg(server.get_program()).args(server.get_args());
                None
            }
            Transport::Http => {
                let (server, port) = serving(era).await;
                bridge.arg(format!("http://127.0.0.1:{port}/mcp"));
                Some(server)
            }
        };
        Self::start(bridge, server)
    }

    /// The server, with lists of one page.
    pub(crate) fn direct_whole(era: Era) -> Self {
        let mut command = planted(era);
        command.arg("--whole");
        Self::start(command, None)
    }

    /// A bridge to a gateway of `server` in `folder`; it speaks the client's era, so that the
    /// gateway does all translation.
    pub(crate) async fn through_gateway((client, server): (Era, Era), path: &str, folder: &Path) -> Self {
        let (gateway, endpoint) = gateway(server, folder).await;
        let mut bridge = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        bridge.args(["bridge", "--era", client.word()]).arg(format!("{endpoint}{path}"));
        Self::start(bridge, Some(gateway))
    }

    fn start(mut command: Command, server: Option<Child>) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, _server: server, input, output }
    }

    /// Sends a frame, and returns all messages up to its response; none for a notification.
    pub(crate) async fn ask(&mut self, frame: &str) -> Vec<String> {
        self.input.write_all(format!("{frame}\n").as_bytes()).await.unwrap();
        let sent: serde_json::Value = serde_json::from_str(frame).unwrap();
        let Some(id) = sent.get("id") else { return Vec::new() };
        let mut heard = Vec::new();
        loop {
            let line = tokio::time::timeout(HANG, self.output.next_line()).await;
            let line = line.unwrap_or_else(|_| panic!("no answer to {frame}; heard {heard:#?}"));
            let line = line.unwrap().unwrap_or_else(|| panic!("the line ended before the answer to {frame}"));
            let answered = serde_json::from_str::<serde_json::Value>(&line).unwrap()["id"] == *id;
            heard.push(line);
            if answered {
                return heard;
            }
        }
    }

    pub(crate) async fn close(mut self) {
        drop(self.input);
        tokio::time::timeout(HANG, self.child.wait()).await.expect("the process ends").unwrap();
    }
}

fn planted(era: Era) -> Command {
    let script: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "tests", "transparency", "planted.py"].iter().collect();
    let mut command = Command::new("python3");
    command.arg(script).arg(era.word());
    command
}

async fn serving(era: Era) -> (Child, u16) {
    let mut command = planted(era);
    command.arg("--http").stdout(Stdio::piped()).kill_on_drop(true);
    let mut server = command.spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let port = lines.next_line().await.unwrap().unwrap().parse().unwrap();
    (server, port)
}

/// Starts a gateway of the planted server and an empty one, and waits until both are connected.
async fn gateway(era: Era, folder: &Path) -> (Child, String) {
    let planted = planted(era);
    let words = |extra: &[&str]| {
        let mut words = vec![planted.as_std().get_program().to_str().unwrap().to_owned()];
        words.extend(planted.as_std().get_args().map(|word| word.to_str().unwrap().to_owned()));
        words.extend(extra.iter().map(ToString::to_string));
        words
    };
    let config = json!({
        "mcp": {"servers": {
            "planted": {"command": words(&["--whole"])}, "empty": {"command": words(&["--empty"])},
        }},
        "views": {"bare": {"servers": ["planted", "empty"], "naming": "bare"}},
        "audit": {"enabled": false},
    });
    let file = folder.join("trunkline.json");
    std::fs::write(&file, config.to_string()).unwrap();
    let mut serve = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    serve.args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"]).arg(&file);
    serve.env("HOME", folder).stdout(Stdio::piped()).kill_on_drop(true);
    let mut gateway = serve.spawn().unwrap();
    let mut lines = BufReader::new(gateway.stdout.take().unwrap()).lines();
    let told: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    let endpoint = told["endpoint"].as_str().unwrap().to_owned();
    let began = std::time::Instant::now();
    loop {
        let mut list = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        let output = list.args(["list", "--json", &endpoint]).output().await.unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        if text.contains("planted_first") && !text.contains("trunkline/missing") {
            return (gateway, endpoint);
        }
        assert!(began.elapsed() < HANG, "{text}");
    }
}
