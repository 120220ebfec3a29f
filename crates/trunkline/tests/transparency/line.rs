//! A minimal stdio client: directly to the server, or to a bridge or gateway in front of it.

use super::{exchange::Era, question};
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

impl Transport {
    /// The word of the rules.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
        }
    }
}

/// Stands in frames for the id of the task that was started last.
pub(crate) const TASK: &str = "@task@";
/// Stands for the id of a request that is repeated, each time with a new one.
pub(crate) const POLL: &str = r#""@poll@""#;
/// A gateway passes it to nobody: it does not say whose task it is about.
const UNTOLD: &str = "notifications/tasks/status";
/// The tools and prompts that requests name.
const NAMES: [&str; 10] =
    ["first", "fails", "touch", "change", "waits", "slow", "finish", "seen", "logs", "asks"];

/// One step of an exchange.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Sends a request, and waits for its response.
    Ask(String),
    /// Sends a message, and waits for nothing.
    Tell(String),
    /// Waits for a notification of this method, unless this exchange has already had one.
    Hear(&'static str),
    /// Sends a call, and answers the questions of the server until the call has its result.
    Converse(String),
    /// Repeats a request until the server has the frame it asks for; only that response counts.
    Until(String),
}

pub(crate) struct Line {
    child: Child,
    /// The server or gateway behind the bridge, if it is not a child of the bridge.
    _server: Option<Child>,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    /// The prefix of names in the view that this line leads to.
    prefix: &'static str,
    /// The task that was started last.
    task: String,
    polls: usize,
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
    pub(crate) async fn through_gateway(
        (client, server): (Era, Era),
        (path, prefix): (&str, &'static str),
        folder: &Path,
    ) -> Self {
        let (gateway, endpoint) = gateway(server, folder).await;
        let mut bridge = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        bridge.args(["bridge", "--era", client.word()]).arg(format!("{endpoint}{path}"));
        Self { prefix, ..Self::start(bridge, Some(gateway)) }
    }

    fn start(mut command: Command, server: Option<Child>) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, _server: server, input, output, prefix: "", task: String::new(), polls: 0 }
    }

    /// Returns all messages that arrive during these steps. Notifications outside of calls come
    /// last, because over HTTP they have a stream of their own.
    pub(crate) async fn perform(&mut self, steps: &[Step]) -> Vec<String> {
        let mut heard = Vec::new();
        for step in steps {
            match step {
                Step::Ask(frame) => self.ask(frame, &mut heard).await,
                Step::Tell(frame) => drop(self.send(frame).await),
                Step::Hear(method) => {
                    let is_it = |message: &Value| message["method"] == *method;
                    if !heard.iter().any(|line: &String| is_it(&parse(line))) {
                        // A message that does not come is a difference.
                        tokio::time::timeout(HANG, self.read_until(&mut heard, is_it)).await.ok();
                    }
                }
                Step::Converse(frame) => self.converse(frame, &mut heard).await,
                Step::Until(frame) => self.repeat(frame, &mut heard).await,
            }
        }
        heard.sort_by_key(|line| is_outside_of_calls(&parse(line)));
        heard
    }

    async fn ask(&mut self, frame: &str, heard: &mut Vec<String>) {
        let id = self.send(frame).await;
        let is_it = |message: &Value| message.get("method").is_none() && message["id"] == id;
        let answered = tokio::time::timeout(HANG, self.read_until(heard, is_it)).await;
        answered.unwrap_or_else(|_| panic!("no answer to {frame}; heard {heard:#?}"));
        let result = &parse(heard.last().unwrap())["result"];
        if let Some(task) = result["task"]["taskId"].as_str().or(result["taskId"].as_str()) {
            task.clone_into(&mut self.task);
        }
    }

    async fn converse(&mut self, frame: &str, heard: &mut Vec<String>) {
        let mut id = self.send(frame).await;
        loop {
            let is_it = |message: &Value| message.get("id").is_some();
            let came = tokio::time::timeout(HANG, self.read_until(heard, is_it)).await;
            came.unwrap_or_else(|_| panic!("no answer to {frame}; heard {heard:#?}"));
            let last = heard.last().unwrap();
            let message = parse(last);
            if message.get("method").is_some() {
                let reply = question::reply(&message);
                self.input.write_all(format!("{reply}\n").as_bytes()).await.unwrap();
            } else if message["result"]["resultType"] == "input_required" {
                let result = question::member(last, "result").unwrap();
                id = self.send(&question::retry(frame, &id, &result)).await;
            } else {
                assert_eq!(message["id"], id, "{message}");
                return;
            }
        }
    }

    async fn repeat(&mut self, frame: &str, heard: &mut Vec<String>) {
        let began = std::time::Instant::now();
        loop {
            self.polls += 1;
            let id = format!(r#""poll-{}""#, self.polls);
            self.ask(&frame.replace(POLL, &id), heard).await;
            let answer = heard.pop().unwrap();
            if !parse(&answer)["result"]["structuredContent"]["frame"].is_null() {
                heard.push(answer.replace(&id, POLL));
                return;
            }
            assert!(began.elapsed() < HANG, "the server never got it: {answer}");
        }
    }

    /// Sends a frame with the names of the view, and returns its id.
    async fn send(&mut self, frame: &str) -> Value {
        let mut frame = frame.replace(TASK, &self.task);
        for name in NAMES {
            let named = |prefix: &str| format!(r#""name":"{prefix}{name}""#);
            frame = frame.replace(&named(""), &named(self.prefix));
        }
        self.input.write_all(format!("{frame}\n").as_bytes()).await.unwrap();
        parse(&frame)["id"].clone()
    }

    async fn read_until(&mut self, heard: &mut Vec<String>, is_it: impl Fn(&Value) -> bool) {
        loop {
            let line = self.output.next_line().await;
            let line = line.unwrap().unwrap_or_else(|| panic!("the line ended after {heard:#?}"));
            let message = parse(&line);
            if message["method"] == UNTOLD {
                continue;
            }
            let found = is_it(&message);
            heard.push(line);
            if found {
                return;
            }
        }
    }

    pub(crate) async fn close(mut self) {
        drop(self.input);
        tokio::time::timeout(HANG, self.child.wait()).await.expect("the process ends").unwrap();
    }
}

fn parse(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

fn is_outside_of_calls(message: &Value) -> bool {
    let method = message["method"].as_str().filter(|_| message.get("id").is_none());
    method.is_some_and(|method| !["notifications/progress", "notifications/message"].contains(&method))
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
    let shared = format!("--shared={}", folder.join("prompts").display());
    let words = |extra: &[&str]| {
        let mut words = vec![planted.as_std().get_program().to_str().unwrap().to_owned()];
        words.extend(planted.as_std().get_args().map(|word| word.to_str().unwrap().to_owned()));
        words.extend(extra.iter().map(ToString::to_string));
        words
    };
    let config = json!({
        "mcp": {"servers": {
            "planted": {"command": words(&["--whole", &shared])}, "empty": {"command": words(&["--empty"])},
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
