//! Failing servers must not affect the others.

use crate::{
    caller::{Caller, LEGACY, MODERN, text},
    processes,
    site::{HANG, PAUSE, Site, rounds},
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{
    fs,
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u01_a_server_killed_in_mid_call_is_named_at_once_and_comes_back() {
    let site = Site::of(
        "killed",
        |site| json!({"victim": site.echo("victim", "legacy"), "other": site.echo("other", "modern")}),
    );
    let mut door = site.open();
    let mut other = Caller::open(&door, None, LEGACY).await;
    for revision in [LEGACY, MODERN] {
        let mut caller = Caller::open(&door, None, revision).await;
        caller.insist("victim_echo", json!({"text": "there"})).await;
        let never = site.path("never").display().to_string();
        let call = tokio::spawn(async move {
            let message = caller.call("victim_gate", json!({"text": "late", "path": never})).await;
            (caller, message)
        });
        door.until(|status| in_flight(status, "victim") == 1).await;
        let killed = Instant::now();
        site.processes("victim").iter().for_each(|pid| processes::signal(*pid, Signal::KILL));
        assert_eq!(other.said("other_echo", json!({"text": "fine"})).await, "fine");
        let (mut caller, message) = call.await.unwrap();
        println!("{revision}: told after {:?}", killed.elapsed());
        let told = message.to_string();
        assert!(
            text(&message).is_none() && told.contains("victim") && told.contains("may have run"),
            "{message:#}"
        );
        caller.insist("victim_echo", json!({"text": "back"})).await;
        println!("{revision}: back after {:?}", killed.elapsed());
    }
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u02_servers_that_cannot_start_delay_nobody() {
    let site = Site::of("broken", |site| {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut hanging = site.local("hanging", &words(&["sleep", "1000"]));
        hanging["timeout"] = json!({"startup": "3s"});
        json!({
            "missing": site.local("missing", &words(&["/nowhere/no-such-program"])),
            "hanging": hanging,
            "crashing": site.local("crashing", &words(&["sh", "-c", "echo the disk is full >&2; exit 7"])),
            "good": site.echo("good", "modern"),
        })
    });
    let began = Instant::now();
    let mut door = site.open();
    let ready = door.page("/readyz", None).await;
    println!("ready after {:?}: {}", began.elapsed(), ready.trim());
    let mut caller = Caller::open(&door, None, MODERN).await;
    let said = caller.insist("good_echo", json!({"text": "served"})).await;
    assert_eq!(said, "served");
    let tools = caller.tools().await;
    println!("listed after {:?}", began.elapsed());
    assert!(tools.iter().any(|tool| tool == "good_echo"), "{tools:?}");
    assert!(tools.iter().all(|tool| tool.starts_with("good_")), "{tools:?}");
    let state =
        |status: &Value, name: &str| upstream(status, name)["state"].as_str().unwrap_or("").to_owned();
    let status = door
        .until(|status| {
            state(status, "missing") == "failed"
                && upstream(status, "crashing")["failures"].as_u64() > Some(1)
        })
        .await;
    assert!(upstream(&status, "crashing").to_string().contains("the disk is full"), "{status:#}");
    assert_ne!(state(&status, "hanging"), "ready", "{status:#}");
    for name in ["missing", "hanging", "crashing"] {
        let message = caller.call(&format!("{name}_anything"), json!({})).await;
        assert!(message["error"].is_object(), "{message:#}");
        assert_eq!(caller.said("good_echo", json!({"text": name})).await, name);
    }
    door.stop().await;
    site.emptied().await;
}

/// Total number of calls to the slow server, and number of connections.
const CALLS: usize = 1000;
const CONNECTIONS: usize = 200;
const CONCURRENCY: usize = 4;
const QUEUE: usize = 8;
const OTHERS: usize = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u14_a_thousand_calls_of_a_slow_server_are_refused_fast_and_hurt_nobody() {
    let site = Site::of("slow", |site| {
        let mut slow = site.echo("slow", "modern");
        slow["concurrency"] = CONCURRENCY.into();
        slow["queue"] = QUEUE.into();
        json!({"slow": slow, "quick": site.echo("quick", "modern")})
    });
    let mut door = site.open();
    let mut quick = Caller::open(&door, None, MODERN).await;
    quick.insist("slow_echo", json!({"text": ""})).await;
    quick.insist("quick_echo", json!({"text": ""})).await;
    let before = p99(&mut quick).await;
    let gate = site.path("gate").display().to_string();
    let mut callers = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let mut caller = Caller::open(&door, None, MODERN).await;
        let gate = gate.clone();
        callers.spawn(async move {
            let mut served = 0;
            for _ in 0..CALLS / CONNECTIONS {
                let message = caller.call("slow_gate", json!({"text": "through", "path": gate})).await;
                served += usize::from(text(&message).is_some());
            }
            served
        });
    }
    // While the gate is closed, all calls beyond concurrency and queue are refused.
    let held = CONCURRENCY + QUEUE;
    let refused = |status: &Value| upstream(status, "slow")["calls"]["refused"].as_u64().unwrap_or(0);
    let least = (CALLS - held * (CALLS / CONNECTIONS)) as u64;
    let status = door.until(|status| refused(status) >= least).await;
    let calls = &upstream(&status, "slow")["calls"];
    assert_eq!((&calls["inFlight"], &calls["waiting"]), (&json!(CONCURRENCY), &json!(QUEUE)), "{calls:#}");
    let during = p99(&mut quick).await;
    println!("others' p99: {before:?} before, {during:?} during");
    assert!(during < Duration::from_secs(5), "{during:?}");
    fs::write(gate, "").unwrap();
    let mut served = 0;
    while let Some(one) = callers.join_next().await {
        served += one.unwrap();
    }
    assert!(served >= held, "{served}");
    door.stop().await;
    site.emptied().await;
}

async fn p99(caller: &mut Caller) -> Duration {
    let mut times = Vec::new();
    for _ in 0..OTHERS {
        let began = Instant::now();
        assert_eq!(caller.said("quick_echo", json!({"text": "quick"})).await, "quick");
        times.push(began.elapsed());
    }
    times.sort();
    times[OTHERS * 99 / 100]
}

pub(crate) fn upstream(status: &Value, name: &str) -> Value {
    let all = status["upstreams"].as_array().unwrap();
    all.iter().find(|upstream| upstream["name"] == name).cloned().unwrap_or_default()
}

pub(crate) fn in_flight(status: &Value, name: &str) -> u64 {
    upstream(status, name)["calls"]["inFlight"].as_u64().unwrap_or(0)
}

/// Number of times that one server is killed.
const RESTARTS: usize = 40;
const LONG_RESTARTS: usize = 1000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p04_restarts_leave_no_process_and_no_descriptor() {
    let site = Site::of("again", |site| json!({"victim": site.echo("victim", "modern")}));
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    caller.insist("victim_echo", json!({"text": ""})).await;
    let before = (processes::descriptors(door.pid()), processes::children(door.pid()).len());
    let mut slowest = Duration::ZERO;
    for _ in 0..rounds(RESTARTS, LONG_RESTARTS) {
        let pid: i32 = caller.insist("victim_pid", json!({})).await.parse().unwrap();
        processes::signal(pid, Signal::KILL);
        let killed = Instant::now();
        while caller.insist("victim_pid", json!({})).await.parse() == Ok(pid) {
            assert!(killed.elapsed() < HANG);
            tokio::time::sleep(PAUSE).await;
        }
        slowest = slowest.max(killed.elapsed());
    }
    let after = (processes::descriptors(door.pid()), processes::children(door.pid()).len());
    println!("(descriptors, children): {before:?}, then {after:?}; back after {slowest:?} at most");
    assert!(after.0 <= before.0 + 2 && after.1 <= before.1, "{before:?} became {after:?}");
    door.stop().await;
    site.emptied().await;
}
