//! Servers of a running gateway are stopped, started and restarted by command.

use crate::{
    caller::{Caller, LEGACY, MODERN, text},
    door::Door,
    site::{Site, until},
    upstream::{in_flight, upstream},
};
use serde_json::{Value, json};
use std::{fs, process::Output};

fn run(site: &Site, door: &Door, words: &[&str]) -> Output {
    site.binary().args(words).arg(&door.endpoint).output().unwrap()
}

fn told(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// The servers `one` and `other`, with the audit trail below the site.
fn two(name: &str) -> Site {
    let site = Site::new(name);
    let servers = json!({"one": site.echo("one", "legacy"), "other": site.echo("other", "modern")});
    let audit = json!({"enabled": true, "directory": site.path("audit")});
    site.configure(&json!({"mcp": {"servers": servers}, "audit": audit}));
    site
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_server_drains_ends_and_stays_stopped_until_it_is_started() {
    let site = two("stopped");
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, LEGACY).await;
    caller.insist("one_echo", json!({"text": "there"})).await;
    caller.insist("other_echo", json!({"text": "there"})).await;
    let gate = site.path("gate");
    let arguments = json!({"text": "drained", "path": gate});
    let mut held = Caller::open(&door, None, LEGACY).await;
    let call = tokio::spawn(async move { held.said("one_gate", arguments).await });
    door.until(|status| in_flight(status, "one") == 1).await;

    let (binary, endpoint) = (site.binary(), door.endpoint.clone());
    let stopping = tokio::task::spawn_blocking(move || {
        let mut binary = binary;
        binary.args(["stop", "one", "--json"]).arg(endpoint).output().unwrap()
    });
    door.until(|status| upstream(status, "one")["state"] == "stopped").await;
    let message = caller.call("one_echo", json!({"text": "refused"})).await;
    let error = message["error"]["message"].as_str().unwrap_or_default();
    assert!(error.contains("`one` was stopped by command; `trunkline start one`"), "{message:#}");
    assert!(!stopping.is_finished(), "the call in flight is drained");
    fs::write(&gate, "").unwrap();
    assert_eq!(call.await.unwrap(), "drained");
    let stopped = stopping.await.unwrap();
    assert_eq!((stopped.status.code(), told(&stopped)["state"].as_str()), (Some(0), Some("stopped")));
    until(|| site.processes("one").is_empty(), || "the process lives on".into()).await;
    assert_eq!(caller.said("other_echo", json!({"text": "fine"})).await, "fine");
    assert!(caller.tools().await.contains(&"one_echo".to_owned()), "the tools stay listed");

    // Another environment replaces the server; it is still stopped.
    let generation = door.status().await["config"]["generation"].as_u64();
    let mut one = site.echo("one", "legacy");
    one["environment"]["MORE"] = "1".into();
    let servers = json!({"one": one, "other": site.echo("other", "modern")});
    site.configure(&json!({"mcp": {"servers": servers}}));
    door.until(|status| status["config"]["generation"].as_u64() > generation).await;
    let message = caller.call("one_echo", json!({"text": "refused"})).await;
    assert!(message.to_string().contains("stopped by command"), "{message:#}");
    assert!(site.processes("one").is_empty());
    let shown = run(&site, &door, &["status"]);
    assert_eq!(shown.status.code(), Some(1), "{shown:?}");
    assert!(String::from_utf8_lossy(&shown.stdout).contains("stopped (by command)"), "{shown:?}");

    let started = run(&site, &door, &["start", "one"]);
    assert_eq!(started.status.code(), Some(0), "{started:?}");
    assert_eq!(String::from_utf8_lossy(&started.stdout), "one: ready\n");
    assert_eq!(caller.said("one_echo", json!({"text": "back"})).await, "back");
    door.stop().await;
    site.emptied().await;
    let records: String = fs::read_dir(site.path("audit"))
        .unwrap()
        .filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok())
        .collect();
    for act in ["server-stop", "server-start"] {
        let record = records.lines().find(|line| line.contains(&format!("\"{act}\"")));
        let record = record.unwrap_or_else(|| panic!("{act}: {records}"));
        assert!(record.contains("`one`") && record.contains("\"caller\":\"local\""), "{record}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_gives_a_new_process_and_a_closed_breaker() {
    let site = Site::of("restarted", |site| {
        let mut one = site.echo("one", "modern");
        one["command"].as_array_mut().unwrap().push("fail".into());
        one["breaker"] = json!({"failures": 1, "openFor": "1h"});
        json!({ "one": one })
    });
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    let before = caller.insist("one_pid", json!({})).await;
    caller.call("one_fail", json!({"text": "ill"})).await;
    assert!(text(&caller.call("one_pid", json!({})).await).is_none(), "the breaker is open");
    let restarted = run(&site, &door, &["restart", "one", "--json"]);
    assert_eq!(restarted.status.code(), Some(0), "{restarted:?}");
    assert_eq!(
        told(&restarted),
        json!({"server": "one", "command": "restart", "state": "ready", "health": "up", "lastError": null})
    );
    assert_ne!(caller.said("one_pid", json!({})).await, before);
    assert_eq!(door.upstream("one").await["restarts"], 1);
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_say_what_is_wrong() {
    let site = Site::of(
        "wrong",
        |site| json!({"absent": site.local("absent", &["/nowhere/no-such-program".to_owned()])}),
    );
    let mut door = site.open();
    let unknown = run(&site, &door, &["restart", "nobody"]);
    let errors = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert_eq!(unknown.status.code(), Some(2), "{errors}");
    assert!(errors.contains("there is no server `nobody`") && errors.contains("absent"), "{errors}");
    let failed = run(&site, &door, &["start", "absent"]);
    let output = String::from_utf8_lossy(&failed.stdout).into_owned();
    assert!(failed.status.code() == Some(1) && output.starts_with("absent: failed: [E219]"), "{failed:?}");
    door.stop().await;
    let gone = run(&site, &door, &["stop", "absent"]);
    assert_eq!(gone.status.code(), Some(3), "{gone:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_callers_that_may_operate_can_stop_a_server() {
    let site = Site::new("operators");
    let keys = site.keys(&[("guest", &["reader"]), ("boss", &["operator"])]);
    site.configure(&json!({
        "mcp": {"servers": {"one": site.echo("one", "modern")}},
        "auth": {"keys": "keys.json"},
        "roles": {"reader": {"allow": ["*"]}, "operator": {"allow": ["*"], "operate": true}},
    }));
    let mut door = site.open();
    let mut binary = site.binary();
    binary.args(["stop", "one", &door.endpoint]);
    let refused = binary.output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "without a key: {refused:?}");
    let refused = binary.env("TRUNKLINE_KEY", &keys[0].token).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "with a role that may not operate: {refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("\"operate\": true"), "{refused:?}");
    assert_eq!(door.page("/readyz?verbose", Some(&keys[0].token)).await, "ready\n");
    let lines = door.page("/readyz?verbose", Some(&keys[1].token)).await;
    assert!(lines.starts_with("one: "), "{lines}");
    let mut caller = Caller::open(&door, Some(&keys[0].token), MODERN).await;
    assert_eq!(caller.insist("one_echo", json!({"text": "on"})).await, "on");
    let stopped = binary.env("TRUNKLINE_KEY", &keys[1].token).output().unwrap();
    assert_eq!(stopped.status.code(), Some(0), "{stopped:?}");
    assert!(text(&caller.call("one_echo", json!({"text": "off"})).await).is_none());
    door.stop().await;
}
