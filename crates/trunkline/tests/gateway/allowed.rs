//! Permissions are the same on every transport and endpoint.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    door::Door,
    site::{HANG, Site},
    wire::Wire,
};
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

/// A tool denied to the low role, and one that does not exist.
const DENIED: &str = "echo_pid";
const UNKNOWN: &str = "echo_nix";
/// The same tools at the endpoint of that single server.
const DENIED_ALONE: &str = "pid";
const UNKNOWN_ALONE: &str = "nix";

/// The responses that a caller gets about a tool.
#[derive(Debug, PartialEq)]
struct Told {
    code: Value,
    message: String,
    data: Value,
}

impl Told {
    fn of(answer: &Value, name: &str) -> Self {
        let error = &answer["error"];
        let message = error["message"].as_str().unwrap_or_else(|| panic!("{name}: {answer:#}"));
        Self {
            code: error["code"].clone(), message: message.replace(name, "…"), data: error["data"].clone()
        }
    }
}

fn guarded(name: &str) -> (Site, String, String) {
    let site = Site::new(name);
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "views": {"bare": {"naming": "bare"}},
        "roles": {
            "low": {"deny": ["*_pid", "echo_sp*"], "callers": ["local"]},
            "high": {"allow": ["*"]},
        },
        "auth": {"keys": site.path("keys.json")},
    }));
    let keys = site.keys(&[("low", &["low"]), ("high", &["high"])]);
    (site, keys[0].token.clone(), keys[1].token.clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_that_do_not_fit_are_refused_here_where_that_is_wanted() {
    let site = Site::new("arguments");
    let mut checked = site.echo("checked", "legacy");
    checked["arguments"] = "checked".into();
    site.configure(
        &json!({"mcp": {"servers": {"checked": checked, "passed": site.echo("passed", "modern")}}}),
    );
    let mut door = site.open();
    for revision in [LEGACY, MODERN] {
        let mut caller = Caller::open(&door, None, revision).await;
        for server in ["checked", "passed"] {
            assert_eq!(caller.insist(&format!("{server}_echo"), json!({"text": "fits"})).await, "fits");
        }
        let refused = caller.call("checked_echo", json!({"text": 7})).await;
        assert_eq!(refused["result"]["isError"], true, "{refused:#}");
        assert!(refused.to_string().contains("/text"), "{refused:#}");
        let passed = caller.call("passed_echo", json!({"text": 7})).await;
        assert_ne!(passed["result"]["content"], refused["result"]["content"], "{passed:#}");
    }
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m03_a_denied_tool_is_unknown_over_every_transport_in_every_revision() {
    let (site, low, high) = guarded("denied");
    let mut door = site.open();
    let mut able = Caller::open(&door, Some(&high), MODERN).await;
    able.insist(DENIED, json!({})).await;
    assert!(able.tools().await.iter().any(|tool| tool == DENIED));
    let mut seen: Vec<(String, Told)> = Vec::new();
    for revision in ["2025-03-26", "2025-06-18", LEGACY, MODERN] {
        for (path, denied, unknown) in [
            ("/mcp", DENIED, UNKNOWN),
            ("/mcp/server/echo", DENIED_ALONE, UNKNOWN_ALONE),
            ("/mcp/bare", DENIED_ALONE, UNKNOWN_ALONE),
        ] {
            let mut caller = Caller::at(&door, path, Some(&low), revision).await;
            let tools = caller.tools().await;
            assert!(tools.iter().any(|tool| tool.ends_with("echo")), "{tools:?}");
            assert!(!tools.iter().any(|tool| tool.ends_with("pid") || tool.ends_with("spawn")), "{tools:?}");
            let mut answers = Vec::new();
            for name in [denied, unknown] {
                let params = json!({"name": name, "arguments": {}});
                let answer = caller.ask(&json!(7), "tools/call", params).await.unwrap();
                answers.push((answer.status, Told::of(&answer.messages()[0], name)));
            }
            assert_eq!(answers[0], answers[1], "{revision} {path}");
            let (_, told) = answers.remove(0);
            seen.push((format!("{revision} {path}"), told));
        }
    }
    seen.push(("HTTP+SSE".into(), over_sse(&door, &low).await));
    let mut line = Line::open(&site).await;
    let there = line.call("echo_echo", json!({"text": "there"})).await;
    assert!(there["result"].is_object(), "{there:#}");
    let told = Told::of(&line.call(DENIED, json!({})).await, DENIED);
    assert_eq!(told, Told::of(&line.call(UNKNOWN, json!({})).await, UNKNOWN));
    seen.push(("stdio".into(), told));
    let (first, rest) = seen.split_first().unwrap();
    for (way, told) in rest {
        assert_eq!(told, &first.1, "{way} is unlike {}", first.0);
    }
    drop(line);
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m03_a01_nobody_is_let_in_without_a_key_whatever_the_revision_says() {
    let (site, low, _) = guarded("keyless");
    let mut door = site.open();
    for revision in ["2025-03-26", "2025-06-18", LEGACY, MODERN] {
        for path in ["/mcp", "/mcp/server/echo", "/mcp/bare", "/mcp/nowhere"] {
            // Few enough to stay below the limit of failed attempts.
            for token in [None, Some("wrong")] {
                let mut caller = Caller::silent(&door, path, token, revision).await;
                let answer = caller.ask(&json!(1), "tools/list", json!({})).await.unwrap();
                assert_eq!(answer.status, 401, "{revision} {path} {token:?}: {}", answer.text());
            }
        }
    }
    for path in ["/sse", "/status", "/metrics"] {
        let mut wire = Wire::open(&door.address).await.unwrap();
        let answer = wire.send(&format!("GET {path}"), "", "").await.unwrap();
        assert_eq!(answer.status, 401, "{path}: {}", answer.text());
    }
    // A low-privilege key has the low role, even without a protocol version header.
    let mut caller = Caller::open(&door, Some(&low), LEGACY).await;
    caller.revision = "2025-03-26";
    assert!(caller.call(DENIED, json!({})).await["error"].is_object());
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a05_no_other_spelling_reaches_a_denied_tool() {
    let (site, low, _) = guarded("spelt");
    let mut door = site.open();
    let mut caller = Caller::open(&door, Some(&low), LEGACY).await;
    caller.insist("echo_echo", json!({"text": "there"})).await;
    for name in [
        "echo_PID",
        "ECHO_pid",
        "echo_pid ",
        " echo_pid",
        "echo__pid",
        "pid",
        "echo.pid",
        "echo/pid",
        "echo_p\u{0131}d",
    ] {
        let told = Told::of(&caller.call(name, json!({})).await, name);
        assert_eq!(told, Told::of(&caller.call(UNKNOWN, json!({})).await, UNKNOWN), "{name:?}");
    }
    door.stop().await;
    site.emptied().await;
}

/// Asks for both over HTTP+SSE.
async fn over_sse(door: &Door, token: &str) -> Told {
    let key = format!("Authorization: Bearer {token}\r\n");
    let mut stream = Wire::open(&door.address).await.unwrap();
    let head = stream.begin("GET /sse", &format!("{key}Accept: text/event-stream\r\n"), "").await.unwrap();
    assert_eq!(head.status, 200);
    let place = stream.event().await;
    let place = place.strip_prefix(&format!("http://{}", door.address)).unwrap_or(&place).to_owned();
    let mut post = Wire::open(&door.address).await.unwrap();
    let headers = format!("{key}Content-Type: application/json\r\n");
    let mut answers = Vec::new();
    for frame in [
        initialize("2024-11-05"),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        call(1, DENIED),
        call(2, UNKNOWN),
    ] {
        let taken = post.send(&format!("POST {place}"), &headers, &frame.to_string()).await.unwrap();
        assert_eq!(taken.status, 202, "{}", taken.text());
        if frame["id"].is_number() {
            answers.push(serde_json::from_str::<Value>(&stream.event().await).unwrap());
        }
    }
    let told = Told::of(&answers[1], DENIED);
    assert_eq!(told, Told::of(&answers[2], UNKNOWN));
    told
}

fn initialize(revision: &str) -> Value {
    let params = json!({
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": {"name": "by-hand", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

fn call(id: u64, tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {}}})
}

/// A gateway on stdio.
pub(crate) struct Line {
    _child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Line {
    pub(crate) async fn open(site: &Site) -> Self {
        let mut command = site.binary();
        command.args(["serve", "--stdio", "--config"]).arg(site.path("trunkline.json"));
        let mut command = Command::from(command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut line = Self { _child: child, input, output };
        line.ask(&initialize(LEGACY)).await;
        let heard = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        line.input.write_all(format!("{heard}\n").as_bytes()).await.unwrap();
        line
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        self.ask(&json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params})).await
    }

    async fn ask(&mut self, frame: &Value) -> Value {
        self.input.write_all(format!("{frame}\n").as_bytes()).await.unwrap();
        loop {
            let line = timeout(HANG, self.output.next_line()).await.expect("an answer comes");
            let message: Value = serde_json::from_str(&line.unwrap().unwrap()).unwrap();
            if message["id"] == frame["id"] {
                return message;
            }
        }
    }
}
