//! Programs whose terminal or output pipe is closed.

use crate::{
    caller::{Caller, LEGACY, MODERN, text},
    door::Door,
    processes::{self, MARK},
    site::{Site, until},
    upstream::in_flight,
};
use rustix::process::Signal;
use serde_json::json;
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Command, Stdio},
};

/// The binary on a separate terminal.
fn on_terminal(site: &Site) -> Command {
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "gateway", "on_terminal.py"].iter().collect();
    let mut command = site.prepare(Command::new("python3"));
    command.arg(script).arg(env!("CARGO_BIN_EXE_trunkline"));
    command
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p03_a_gateway_outlives_its_terminal_and_ends_no_call() {
    let site = Site::of("terminal", |site| json!({"one": site.echo("one", "modern")}));
    let mut command = on_terminal(&site);
    command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"]);
    let mut door = Door::start(command.arg(site.path("trunkline.json")));
    let gate = site.path("gate").display().to_string();
    let mut calls = Vec::new();
    for revision in [LEGACY, MODERN] {
        let mut caller = Caller::open(&door, None, revision).await;
        let arguments = json!({"text": "held", "path": gate});
        calls.push(tokio::spawn(async move {
            let heard = caller.insist("one_gate", arguments).await;
            (caller, heard)
        }));
    }
    let status = door.until(|status| in_flight(status, "one") == 2).await;
    door.signal(Signal::USR1);
    // SIGHUP is handled: the configuration is reloaded.
    site.configure(&json!({"mcp": {"servers": {"one": site.echo("one", "modern")}}, "views": {"all": {}}}));
    let generation = |status: &serde_json::Value| status["config"]["generation"].as_u64();
    door.until(|now| generation(now) > generation(&status)).await;
    fs::write(site.path("gate"), "").unwrap();
    for call in calls {
        let (mut caller, heard) = call.await.unwrap();
        assert_eq!(heard, "held");
        assert_eq!(caller.said("one_echo", json!({"text": "alone"})).await, "alone");
    }
    // The file is invalid; the gateway cannot print the error, and must keep running.
    site.write("trunkline.json", "{");
    door.until(|status| status["config"]["lastError"]["text"].is_string()).await;
    let mut caller = Caller::open(&door, None, MODERN).await;
    assert_eq!(caller.said("one_echo", json!({"text": "still"})).await, "still");
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p03_a_command_ends_with_its_terminal_and_leaves_no_process() {
    let site = Site::new("command");
    let server = site.echo("one", "modern");
    let words = server["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
    let mark = format!("{MARK}={}", server["environment"][MARK].as_str().unwrap());
    let path = format!("path={}", site.path("never").display());
    let mut command = on_terminal(&site);
    command.args(["call", "--env", &mark, "gate", "text=never", &path, "--"]).args(words);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut process = command.spawn().unwrap();
    until(|| !site.processes("one").is_empty(), || "the server does not start".into()).await;
    processes::signal(process.id().try_into().unwrap(), Signal::USR1);
    let status = process.wait().unwrap();
    assert_eq!(status.code(), Some(143), "{status}");
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p03_a_server_on_standard_output_ends_when_nobody_reads_it() {
    let site = Site::of("unread", |site| json!({"one": site.echo("one", "modern")}));
    let mut command = site.binary();
    command.args(["serve", "--stdio", "--config"]).arg(site.path("trunkline.json"));
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = process.stdin.take().unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    let hello =
        json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let mut say = |id: u64, method: &str, params| {
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{line}")
    };
    say(1, "initialize", hello).unwrap();
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    say(2, "tools/call", json!({"name": "one_echo", "arguments": {"text": "there"}})).unwrap();
    line.clear();
    output.read_line(&mut line).unwrap();
    assert_eq!(text(&serde_json::from_str(&line).unwrap()).as_deref(), Some("there"), "{line}");
    drop(output);
    // The response to this cannot be written.
    say(3, "tools/list", json!({})).unwrap();
    let status = process.wait().unwrap();
    println!("without a reader: {status}");
    assert!(status.code().is_some(), "it ended by itself, and by no signal: {status}");
    site.emptied().await;
}
