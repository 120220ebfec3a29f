//! Signals and process exits.

use crate::{
    caller::{Caller, LEGACY, MODERN, text},
    door::Door,
    processes,
    site::{HANG, PAUSE, Site, until},
    upstream::{in_flight, upstream},
    wire::Wire,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{
    fs,
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

/// Number of calls in flight when the event happens.
const UNDER_WAY: usize = 20;
/// Number of calls in flight when the gateway is killed.
const KILLED: usize = 100;

async fn busy(site: &Site, door: &Door) -> JoinSet<std::io::Result<Vec<Value>>> {
    busy_with(site, door, UNDER_WAY).await
}

/// Two servers with calls in flight, which end when the file `gate` exists.
async fn busy_with(site: &Site, door: &Door, many: usize) -> JoinSet<std::io::Result<Vec<Value>>> {
    let mut calls = JoinSet::new();
    let gate = site.path("gate").display().to_string();
    for number in 0..many {
        let revision = [LEGACY, MODERN][number % 2];
        let tool = ["one_gate", "two_gate"][number / 2 % 2];
        let mut caller = Caller::open(door, None, revision).await;
        let params = json!({"name": tool, "arguments": {"text": number.to_string(), "path": gate}});
        calls.spawn(async move {
            let answer = caller.ask(&json!(number), "tools/call", params).await?;
            Ok(answer.messages())
        });
    }
    let count = |status: &Value| in_flight(status, "one") + in_flight(status, "two");
    door.until(|status| count(status) == many as u64).await;
    calls
}

/// Waits until the gateway reports that it is draining. An accepted connection without data is
/// closed.
pub(crate) async fn until_draining(door: &Door) {
    let began = Instant::now();
    loop {
        let mut wire = Wire::open(&door.address).await.unwrap();
        let ready = wire.send("GET /readyz", "", "").await;
        if ready.is_ok_and(|answer| answer.status == 503) {
            return;
        }
        assert!(began.elapsed() < HANG, "it does not drain");
    }
}

fn two(site: &Site) -> Value {
    json!({"one": site.echo("one", "modern"), "two": site.echo("two", "legacy")})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p01_a_killed_gateway_leaves_no_process_behind_and_its_calls_are_audited_as_unknown() {
    let site = Site::new("orphans");
    site.configure(&json!({"mcp": {"servers": two(&site)}, "audit": {"directory": site.path("audit")}}));
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    for server in ["one", "two"] {
        let grandchild: i32 = caller.insist(&format!("{server}_spawn"), json!({})).await.parse().unwrap();
        assert!(site.processes(server).contains(&grandchild));
    }
    let calls = busy_with(&site, &door, KILLED).await;
    let killed = Instant::now();
    door.signal(Signal::KILL);
    door.ended().await;
    site.emptied().await;
    let took = killed.elapsed();
    println!("children and grandchildren were gone after {took:?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    for call in calls.join_all().await {
        let heard = call.unwrap_or_default();
        assert!(heard.iter().all(|message| message["id"].is_null()), "{heard:#?}");
    }
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, LEGACY).await;
    assert_eq!(caller.insist("one_echo", json!({"text": "again"})).await, "again");
    door.stop().await;
    site.emptied().await;
    let report = trunkline_gateway::audit::verify(site.path("audit")).unwrap();
    assert!(report.is_intact() && report.unfinished == 0, "{report:#?}");
    let records = trunkline_gateway::audit::tail(site.path("audit"), usize::MAX).unwrap();
    let records: Vec<Value> = records.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let unknown: Vec<&Value> = records.iter().filter(|record| record["outcome"] == "unknown").collect();
    let gates =
        unknown.iter().filter(|record| record["target"].as_str().is_some_and(|t| t.ends_with("_gate")));
    assert_eq!(gates.count(), KILLED, "{unknown:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p02_told_to_stop_it_delivers_what_runs_and_takes_nothing_new() {
    let site = Site::of("drained", two);
    let mut door = site.open();
    let calls = busy(&site, &door).await;
    door.signal(Signal::TERM);
    until_draining(&door).await;
    let mut late = Caller::silent(&door, "/mcp", None, LEGACY).await;
    let params =
        json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let refused = late.ask(&json!(1), "initialize", params).await.unwrap();
    assert_eq!(refused.status, 503, "{}", refused.text());
    fs::write(site.path("gate"), "").unwrap();
    let mut told: Vec<String> = Vec::new();
    for call in calls.join_all().await {
        let last = call.unwrap().pop().unwrap();
        told.push(text(&last).unwrap_or_else(|| panic!("{last:#}")));
    }
    told.sort();
    let mut all: Vec<String> = (0..UNDER_WAY).map(|number| number.to_string()).collect();
    all.sort();
    assert_eq!(told, all);
    assert_eq!(door.ended().await.code(), Some(0));
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p02_told_twice_it_stops_at_once() {
    let site = Site::of("twice", two);
    let mut door = site.open();
    let calls = busy(&site, &door).await;
    door.signal(Signal::INT);
    until_draining(&door).await;
    let began = Instant::now();
    door.signal(Signal::TERM);
    door.ended().await;
    let took = began.elapsed();
    println!("the second signal took {took:?}, and nothing was left {:?} later", site.emptied().await);
    // Far less than the drain timeout.
    assert!(took < Duration::from_secs(25), "{took:?}");
    assert_eq!(calls.join_all().await.len(), UNDER_WAY);
}

/// Limit of file descriptors of the gateway.
const DESCRIPTORS: usize = 64;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p05_without_descriptors_existing_traffic_is_served_and_it_recovers() {
    let site = Site::of("scarce", two);
    let mut command = site.prepare(Command::new("sh"));
    let script = format!("ulimit -n {DESCRIPTORS}; exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_trunkline")]);
    command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"]);
    let mut door = Door::start(command.arg(site.path("trunkline.json")));
    let mut caller = Caller::open(&door, None, MODERN).await;
    for server in ["one", "two"] {
        caller.insist(&format!("{server}_echo"), json!({"text": "there"})).await;
    }
    let mut held = Vec::new();
    for _ in 0..DESCRIPTORS + 10 {
        held.push(Wire::open(&door.address).await.unwrap());
    }
    until(|| processes::descriptors(door.pid()) >= DESCRIPTORS - 1, || "there are descriptors left".into())
        .await;
    for number in 0..50 {
        let text = number.to_string();
        assert_eq!(caller.said("one_echo", json!({ "text": text })).await, text);
    }
    // A server that cannot start for lack of descriptors causes an error, and nothing worse.
    site.processes("two").iter().for_each(|pid| processes::signal(*pid, Signal::KILL));
    let told = loop {
        let message = caller.call("two_echo", json!({"text": "no room"})).await;
        assert!(text(&message).is_none(), "there was room: {message:#}");
        // The first calls may have reached the process before it was dead.
        let told = message["error"]["message"].as_str().unwrap().to_owned();
        if !told.contains("may have run") {
            break told;
        }
    };
    println!("without descriptors: {told}");
    assert!(told.contains("two"), "{told}");
    assert_eq!(caller.said("one_echo", json!({"text": "fine"})).await, "fine");
    drop(held);
    let mut fresh = Caller::open(&door, None, LEGACY).await;
    assert_eq!(fresh.insist("two_echo", json!({"text": "room"})).await, "room");
    door.stop().await;
    site.emptied().await;
}

/// Runs a program with these descriptors closed.
fn with_closed(site: &Site, descriptors: &str, words: &[&str]) -> Command {
    let mut command = site.prepare(Command::new("sh"));
    command.args(["-c", &format!("exec \"$0\" \"$@\" {descriptors}"), env!("CARGO_BIN_EXE_trunkline")]);
    command.args(words);
    command
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p06_without_standard_output_a_server_on_it_refuses_and_says_why() {
    let site = Site::of("closed-output", two);
    let file = site.path("trunkline.json").display().to_string();
    for words in [&["serve", "--stdio", "--config", &file][..], &["bridge", "http://127.0.0.1:1/mcp"]] {
        let output = with_closed(&site, "1>&-", words).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("standard output is closed"), "{told}");
    }
    // Without standard error, only the exit status reports the failure.
    let mut command = with_closed(&site, "0<&- 1>&- 2>&-", &["serve", "--stdio", "--config", &file]);
    assert_eq!(command.status().unwrap().code(), Some(2));
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p06_over_http_closed_descriptors_are_taken_by_nothing_else() {
    let site = Site::of("closed-all", two);
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let file = site.path("trunkline.json").display().to_string();
    let words = ["serve", "--listen", &address, "--config", &file];
    let mut child = with_closed(&site, "0<&- 1>&- 2>&-", &words).spawn().unwrap();
    let began = Instant::now();
    while Wire::open(&address).await.is_err() {
        assert!(began.elapsed() < HANG, "it does not listen");
        tokio::time::sleep(PAUSE).await;
    }
    for descriptor in 0..3 {
        let target = fs::read_link(format!("/proc/{}/fd/{descriptor}", child.id())).unwrap();
        assert_eq!(target.to_str(), Some("/dev/null"));
    }
    processes::signal(child.id().try_into().unwrap(), Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p05_a_program_that_is_being_written_is_started_when_it_is_whole() {
    let site = Site::new("busy-text");
    let program = site.path("server");
    fs::copy("/usr/bin/env", &program).unwrap();
    let mut server = site.echo("late", "modern");
    let words = server["command"].as_array().unwrap().clone();
    server["command"] = [json!(program)].into_iter().chain(words).collect();
    site.configure(&json!({"mcp": {"servers": {"late": server, "other": site.echo("other", "legacy")}}}));
    // A program that is open for writing cannot be executed: ETXTBSY.
    let writing = fs::OpenOptions::new().append(true).open(&program).unwrap();
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    let refused = caller.call("late_echo", json!({"text": "now"})).await;
    assert!(refused["error"].is_object(), "{refused:#}");
    assert_eq!(caller.insist("other_echo", json!({"text": "served"})).await, "served");
    let status = door.until(|status| upstream(status, "late")["failures"].as_u64() > Some(1)).await;
    assert_eq!(upstream(&status, "late")["state"], "lost", "it passes by itself: {status:#}");
    drop(writing);
    assert_eq!(caller.insist("late_echo", json!({"text": "whole"})).await, "whole");
    door.stop().await;
    site.emptied().await;
}
