//! `MCP_TOOL_CACHE_TTL`: how long lists are kept by `serve`, `bridge` and the client commands; and
//! changes that a server announces.

use crate::{
    caller::{Caller, MODERN},
    door::Door,
    site::{HANG, PAUSE, Site, until},
};
use serde_json::json;
use std::{
    fs,
    process::{Command, Stdio},
    time::Instant,
};

const VARIABLE: &str = "MCP_TOOL_CACHE_TTL";

/// A legacy server that says it announces changes and never does. Its tools are the words of the
/// file `tools`; each `tools/list` adds a character to the file `asked`.
const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if "id" not in message or method is None:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        tasks = {"requests": {"tools": {"call": {}}}}
        capabilities = {"tools": {"listChanged": True}, "tasks": tasks}
        info = {"name": "s", "version": "1"}
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
    elif method == "tools/list":
        with open("asked", "a") as file:
            file.write("x")
        schema = {"type": "object"}
        answer["result"] = {"tools": [{"name": name, "inputSchema": schema} for name in open("tools").read().split()]}
    elif method == "tools/call":
        answer["result"] = {"content": []}
    else:
        answer["error"] = {"code": -32601, "message": "no"}
    print(json.dumps(answer), flush=True)
"#;

/// A modern server whose list is valid for an hour. The tool `grow` adds a tool and announces it.
const ANNOUNCING: &str = r#"
import json, sys
tools, listeners = ["grow"], []
ID = "io.modelcontextprotocol/subscriptionId"

def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def tell(method, listener, more):
    send({"method": method, "params": {"_meta": {ID: listener}, **more}})

for line in sys.stdin:
    message = json.loads(line)
    method, own = message.get("method"), message.get("id")
    if own is None or method is None:
        continue
    hints = {"resultType": "complete", "ttlMs": 3600000, "cacheScope": "public"}
    if method == "server/discover":
        capabilities = {"tools": {"listChanged": True}}
        info = {"name": "s", "version": "1"}
        send({"id": own, "result": {"supportedVersions": ["2026-07-28"], "capabilities": capabilities, "serverInfo": info, **hints}})
    elif method == "subscriptions/listen":
        listeners.append(own)
        tell("notifications/subscriptions/acknowledged", own, {"notifications": message["params"]["notifications"]})
        open("listened", "w").close()
    elif method == "tools/list":
        schema = {"type": "object"}
        send({"id": own, "result": {"tools": [{"name": name, "inputSchema": schema} for name in tools], **hints}})
    elif method == "tools/call":
        tools.append(f"grown{len(tools)}")
        for listener in listeners:
            tell("notifications/tools/list_changed", listener, {})
        send({"id": own, "result": {"resultType": "complete", "content": [{"type": "text", "text": tools[-1]}]}})
    else:
        send({"id": own, "error": {"code": -32601, "message": "no"}})
"#;

fn site(name: &str) -> Site {
    Site::of(name, |site| {
        site.write("server.py", SERVER);
        site.write("tools", "one");
        json!({"s": site.local("s", &["python3".to_owned(), "server.py".to_owned()])})
    })
}

fn asked(site: &Site) -> usize {
    fs::read(site.path("asked")).map_or(0, |text| text.len())
}

fn serve(site: &Site) -> Command {
    let mut command = site.binary();
    command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"]).arg(site.path("trunkline.json"));
    command
}

fn bridge(site: &Site) -> Command {
    let mut command = site.binary();
    command.args(["bridge", "--json", "--listen", "127.0.0.1:0", "--", "python3", "server.py"]);
    command
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_reads_an_expired_list_again_though_the_server_promised_announcements() {
    for value in ["1000", "1s"] {
        let site = site("expired");
        let mut door = Door::start(serve(&site).env(VARIABLE, value));
        let mut caller = Caller::open(&door, None, MODERN).await;
        assert_eq!(caller.tools().await, ["s_one"]);
        site.write("tools", "one two");
        let began = Instant::now();
        while caller.tools().await != ["s_one", "s_two"] {
            assert!(began.elapsed() < HANG, "the old list is still offered");
            tokio::time::sleep(PAUSE).await;
        }
        door.stop().await;
        site.emptied().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bridge_reads_an_expired_list_again() {
    let site = site("bridged");
    let mut door = Door::start(bridge(&site).env(VARIABLE, "1000"));
    until(|| asked(&site) >= 3, || format!("the server was asked {} times", asked(&site))).await;
    door.stop().await;
}

#[test]
fn a_client_command_keeps_a_list_as_long_as_the_variable_says() {
    for (value, expected) in [("", 1), ("60000", 1), ("0", 2)] {
        let site = site("client");
        let mut command = site.binary();
        // A server with tasks is asked for the tool once more if the list is not cached.
        command.env(VARIABLE, value).args(["call", "one", "--", "python3", "server.py"]);
        let run = command.output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(asked(&site), expected, "{value}");
    }
}

#[tokio::test]
async fn a_bad_value_is_an_error_that_names_the_variable() {
    let site = site("bad");
    let mut list = site.binary();
    list.args(["list", "--", "python3", "server.py"]);
    for mut command in [list, serve(&site), bridge(&site)] {
        for value in ["soon", "-1", "2d"] {
            let mut process = command.env(VARIABLE, value).stderr(Stdio::piped()).spawn().unwrap();
            let began = Instant::now();
            while process.try_wait().unwrap().is_none() {
                if began.elapsed() > HANG {
                    process.kill().unwrap();
                    panic!("{command:?} does not end");
                }
                tokio::time::sleep(PAUSE).await;
            }
            let run = process.wait_with_output().unwrap();
            let text = String::from_utf8_lossy(&run.stderr).into_owned();
            assert_eq!(run.status.code(), Some(2), "{command:?}: {text}");
            assert!(text.contains(VARIABLE), "{command:?}: {text}");
        }
    }
    assert_eq!(asked(&site), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_announced_change_is_read_though_the_old_list_is_valid_for_an_hour() {
    let site = Site::of("announced", |site| {
        site.write("server.py", ANNOUNCING);
        json!({"s": site.local("s", &["python3".to_owned(), "server.py".to_owned()])})
    });
    let mut door = Door::start(&mut serve(&site));
    let mut caller = Caller::open(&door, None, MODERN).await;
    assert_eq!(caller.tools().await, ["s_grow"]);
    until(|| site.path("listened").exists(), || "nobody listens to changes".to_owned()).await;
    let mut expected = vec!["s_grow".to_owned()];
    for _ in 0..3 {
        expected.push(format!("s_{}", caller.said("s_grow", json!({})).await));
        let began = Instant::now();
        while caller.tools().await != expected {
            assert!(began.elapsed() < HANG, "the old list is still offered");
            tokio::time::sleep(PAUSE).await;
        }
    }
    door.stop().await;
    site.emptied().await;
}
