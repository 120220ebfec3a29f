//! Real servers as processes: killed repeatedly, without leaks.

use crate::{faults::seconds, support::*};
use serde_json::{Value, json};
use std::{env, path::Path, sync::Arc, time::Duration};
use tokio::time::Instant;
use trunkline_client::Target;
use trunkline_gateway::upstream::{State, Upstream, UpstreamOptions};
use trunkline_protocol::Handler;
use trunkline_testkit::peers::installed;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_of_a_legacy_server_have_processes_of_their_own_and_dropping_ends_all() {
    let mark = unique("profiles");
    let upstream = upstream("legacy", rmcp(&mark, "legacy"), UpstreamOptions::default());
    ready(&upstream).await;
    assert_eq!(processes(&mark).len(), 1);
    for who in ["ada", "bob", "eve"] {
        upstream.call(call_by(who, "echo", &json!({"text": who}))).outcome().await.unwrap();
    }
    assert_eq!(processes(&mark).len(), 3, "the first caller took over the gateway's own");
    assert_eq!(upstream.status().sessions.len(), 3);
    drop(upstream);
    gone(&mark).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_server_has_no_process_and_wakes_with_a_call() {
    let mark = unique("idle");
    let options = UpstreamOptions { idle: Some(Duration::from_millis(300)), ..UpstreamOptions::default() };
    let upstream = upstream("sleepy", rmcp(&mark, "both"), options);
    ready(&upstream).await;
    until(&upstream, |status| status.state == State::Idle).await;
    gone(&mark).await;
    assert!(upstream.offer().unwrap().tools.len() > 5);
    upstream.call(call_of("echo", &json!({"text": "up"}))).outcome().await.unwrap();
    assert_eq!(processes(&mark).len(), 1);
    upstream.stop().await;
    gone(&mark).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_comes_later_is_offered_in_both_eras() {
    for era in ["legacy", "both"] {
        let mark = unique(era);
        let upstream = upstream("growing", rmcp(&mark, era), UpstreamOptions::default());
        let before = ready(&upstream).await.tools.len();
        upstream.call(call_of("grow", &json!({}))).outcome().await.unwrap();
        until(&upstream, |status| status.lists[0].items == Some(before + 1)).await;
        upstream.stop().await;
        gone(&mark).await;
    }
}

/// A real server: its name, the command, and a call that it answers.
type Real = (&'static str, Vec<String>, &'static str, Value);

fn real_servers(folder: &Path) -> Vec<Real> {
    let place = folder.display().to_string();
    let npm = |name: &str| installed(&format!("npm/node_modules/.bin/{name}"));
    let python = |name: &str| installed(&format!("python/bin/{name}"));
    let fastmcp = format!("{}/peers/fastmcp_server.py", env!("CARGO_MANIFEST_DIR"));
    vec![
        ("everything", vec![npm("mcp-server-everything"), "stdio".into()], "echo", json!({"message": "hi"})),
        (
            "filesystem",
            vec![npm("mcp-server-filesystem"), place.clone()],
            "list_directory",
            json!({"path": place}),
        ),
        ("memory", vec![npm("mcp-server-memory")], "read_graph", json!({})),
        (
            "git",
            vec![python("mcp-server-git"), "-r".into(), place.clone()],
            "git_status",
            json!({"repo_path": place}),
        ),
        (
            "time",
            vec![python("mcp-server-time"), "--local-timezone".into(), "UTC".into()],
            "get_current_time",
            json!({"timezone": "UTC"}),
        ),
        ("fastmcp", vec![python("python"), fastmcp], "echo", json!({"text": "hi"})),
        ("rmcp", vec![env!("CARGO_BIN_EXE_rmcp-server").into()], "echo", json!({"text": "hi"})),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u01_real_servers_are_killed_in_turn_and_the_others_never_notice() {
    let folder = tempfile::tempdir().unwrap();
    let git = std::process::Command::new("git").args(["init", "-q"]).current_dir(&folder).status().unwrap();
    assert!(git.success());
    let mut upstreams: Vec<(Arc<Upstream>, String, &str, Value)> = Vec::new();
    let began = Instant::now();
    for (name, words, tool, arguments) in real_servers(folder.path()) {
        let mark = unique(name);
        let target = Target::command(words)
            .unwrap()
            .with_variable(MARK, mark.clone())
            .with_variable("MEMORY_FILE_PATH", format!("{}/memory.jsonl", folder.path().display()));
        upstreams.push((upstream(name, target, UpstreamOptions::default()), mark, tool, arguments));
    }
    for (upstream, _, tool, arguments) in &upstreams {
        let offer = ready(upstream).await;
        assert!(!offer.tools.is_empty(), "{upstream:?}");
        let outcome = upstream.call(call_of(tool, arguments)).outcome().await;
        let result = outcome.unwrap_or_else(|fault| panic!("{upstream:?}: {fault}"));
        assert_ne!(result.member_as("isError"), Some(true), "{upstream:?}: {result}");
    }
    // On a busy machine the programs start slowly, so their start time is measured first.
    let starting = began.elapsed();
    for (victim, mark, ..) in &upstreams {
        let before = victim.status().restarts;
        let killed = Instant::now();
        for pid in processes(mark) {
            kill(pid);
        }
        for (upstream, _, tool, arguments) in
            upstreams.iter().filter(|(other, ..)| !Arc::ptr_eq(other, victim))
        {
            upstream.call(call_of(tool, arguments)).outcome().await.unwrap();
        }
        until(victim, |status| status.restarts > before).await;
        ready(victim).await;
        let back = killed.elapsed();
        assert!(back < seconds(5) + starting, "{victim:?} took {back:?}, all together at first {starting:?}");
    }
    for (upstream, mark, tool, arguments) in &upstreams {
        upstream.call(call_of(tool, arguments)).outcome().await.unwrap();
        upstream.stop().await;
        gone(mark).await;
    }
    assert_eq!(zombies(), 0);
}
