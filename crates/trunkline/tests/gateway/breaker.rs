//! The circuit breaker of a server: shared by all of its sessions, told by every page, and logged.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    door::Door,
    site::{HANG, PAUSE, Site},
};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    time::Instant,
};

/// Failures in a row after which the breaker opens.
const FAILURES: usize = 3;

/// A site with one server that can fail and exit, and its gateway, whose log is a file.
fn failing(name: &str, era: &str, open_for: &str) -> (Site, Door) {
    let site = Site::of(name, |site| {
        let mut server = site.echo("sick", era);
        server["command"].as_array_mut().unwrap().extend(["fail", "exit"].map(Value::from));
        server["breaker"] = json!({"failures": FAILURES, "openFor": open_for});
        server["restart"] = json!({"first": "1ms", "most": "10ms"});
        json!({ "sick": server })
    });
    let mut command = site.binary();
    command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"]);
    command.arg(site.path("trunkline.json"));
    let log = File::create(site.path("log")).unwrap();
    let door = Door::start_with_errors(&mut command, log.into());
    (site, door)
}

/// The code of an error, as in `docs/errors.md`.
fn code(message: &Value) -> &str {
    message["error"]["data"]["appCode"].as_str().unwrap_or_default()
}

/// The state of the breaker, which all three pages must tell alike.
async fn breaker(door: &Door) -> String {
    let told = door.upstream("sick").await;
    let (state, health) = (told["breaker"].as_str().unwrap(), told["health"].as_str().unwrap());
    let metrics = door.page("/metrics", None).await;
    for one in ["closed", "half-open", "open"] {
        let value = u8::from(one == state);
        let line = format!("trunkline_upstream_breaker_state{{server=\"sick\",state=\"{one}\"}} {value}\n");
        assert!(metrics.contains(&line), "{line}{metrics}");
    }
    let up = format!("trunkline_upstream_up{{server=\"sick\"}} {}\n", u8::from(health == "up"));
    assert!(metrics.contains(&up), "{up}{metrics}");
    let ready = door.page("/readyz?verbose", None).await;
    let line = format!("sick: {health} (state {}, circuit {state})\n", told["state"].as_str().unwrap());
    assert!(ready.contains(&line) && ready.ends_with("\nready\n"), "{line}{ready}");
    assert_eq!(door.page("/readyz", None).await, "ready\n");
    state.to_owned()
}

fn logged(site: &Site) -> Vec<String> {
    let log = fs::read_to_string(site.path("log")).unwrap();
    log.lines().filter(|line| line.contains("circuit")).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sessions_of_a_server_share_one_breaker_and_its_internal_errors_count() {
    let (site, mut door) = failing("internal", "legacy", "1h");
    // Each of them has its own session, because they declare different capabilities.
    let mut callers = Vec::new();
    for capabilities in [json!({}), json!({"roots": {}}), json!({"sampling": {}}), json!({"elicitation": {}})]
    {
        let mut caller = Caller::silent(&door, "/mcp", None, LEGACY).await;
        caller.capabilities = capabilities;
        caller.begin().await;
        caller.insist("sick_echo", json!({"text": "well"})).await;
        callers.push(caller);
    }
    let sessions = door.upstream("sick").await["sessions"].as_array().unwrap().len();
    assert!(sessions > FAILURES, "{sessions}");
    assert_eq!(breaker(&door).await, "closed");
    for caller in &mut callers[..FAILURES] {
        let message = caller.call("sick_fail", json!({"text": "the disk is full"})).await;
        assert_eq!(message["error"]["message"], "the disk is full", "{message:#}");
    }
    for caller in &mut callers {
        let message = caller.call("sick_echo", json!({"text": "too late"})).await;
        assert_eq!(code(&message), "E201", "{message:#}");
        assert!(message.to_string().contains("`sick` failed 3 times in a row"), "{message:#}");
    }
    assert_eq!(breaker(&door).await, "open");
    assert_eq!(door.upstream("sick").await["health"], "down");
    let mut status = site.binary();
    let ended = status.args(["status", &door.endpoint]).output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    assert!(String::from_utf8_lossy(&ended.stdout).contains("breaker open"), "{ended:?}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exits_count_and_every_transition_is_logged_once() {
    let (site, mut door) = failing("exiting", "modern", "200ms");
    let mut caller = Caller::open(&door, None, MODERN).await;
    caller.insist("sick_echo", json!({"text": "well"})).await;
    let began = Instant::now();
    // A call may find the server not started again yet; that is no failure of a call.
    while breaker(&door).await == "closed" {
        caller.call("sick_exit", json!({"text": ""})).await;
        assert!(began.elapsed() < HANG, "the breaker does not open");
        tokio::time::sleep(PAUSE).await;
    }
    caller.insist("sick_echo", json!({"text": "back"})).await;
    assert_eq!(breaker(&door).await, "closed");
    let restarts = door.upstream("sick").await["restarts"].as_u64();
    assert!(restarts >= Some(FAILURES as u64), "{restarts:?}");
    door.stop().await;
    let log = logged(&site);
    let kinds = ["circuit open", "circuit half open", "circuit closed"];
    let count = |kind: &str| log.iter().filter(|line| line.contains(kind)).count();
    assert_eq!(kinds.map(count), [1, 1, 1], "{log:#?}");
    assert!(log.iter().all(|line| line.contains("sick")), "{log:#?}");
    assert!(log[0].contains("failures=3"), "{log:#?}");
}
