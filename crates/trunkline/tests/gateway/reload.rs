//! Reloads of the configuration while the gateway runs.

use crate::{
    caller::{Caller, LEGACY, MODERN, text},
    door::Door,
    site::{Site, until},
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

/// Number of concurrent callers, and their total calls per second.
const CALLERS: u32 = 25;
const RATE: u32 = 1000;
/// Every nth caller uses the server that is replaced, which responds slowly while it starts.
const PATIENT: u32 = 5;
/// Number of reloads under load.
const RELOADS: u64 = 8;

/// A version of the configuration: `kept` never changes, `changing` is restarted each time,
/// `other` is added and removed.
fn version(site: &Site, number: u64) -> Value {
    let mut changing = site.echo("changing", "modern");
    changing["environment"]["VERSION"] = number.to_string().into();
    let mut servers = json!({"kept": site.echo("kept", "modern"), "changing": changing});
    if number.is_multiple_of(2) {
        servers["other"] = site.echo("other", "legacy");
    }
    json!({"mcp": {"servers": servers}, "views": {format!("v{number}"): {"servers": ["kept"]}}})
}

fn generation(status: &Value) -> u64 {
    status["config"]["generation"].as_u64().unwrap()
}

fn has_view(status: &Value, number: u64) -> bool {
    let name = format!("v{number}");
    status["catalog"]["views"].as_array().unwrap().iter().any(|view| *view == name)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v01_reloads_under_a_thousand_requests_a_second_lose_none() {
    let site = Site::new("reloaded");
    site.configure(&version(&site, 0));
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    let kept = caller.insist("kept_pid", json!({})).await;
    let changing = caller.insist("changing_pid", json!({})).await;
    let first = generation(&door.status().await);
    let stop = Arc::new(AtomicBool::new(false));
    let load = start_load(&door, &stop).await;
    let began = Instant::now();
    for number in 1..=RELOADS {
        site.configure(&version(&site, number));
        if number.is_multiple_of(2) {
            door.signal(Signal::HUP);
        }
        door.until(|status| has_view(status, number)).await;
        let said = caller.said("changing_echo", json!({"text": "moved"})).await;
        assert_eq!(said, "moved");
    }
    stop.store(true, Ordering::Relaxed);
    let calls: usize = load.join_all().await.into_iter().sum();
    let took = began.elapsed();
    let rate = calls as u128 * 1000 / took.as_millis().max(1);
    println!("{RELOADS} reloads in {took:?} under {calls} calls ({rate} a second), none lost");
    let status = door.status().await;
    assert!(generation(&status) >= first + RELOADS, "{status:#}");
    assert_eq!(caller.said("kept_pid", json!({})).await, kept, "it did not change and was restarted");
    assert_ne!(caller.said("changing_pid", json!({})).await, changing, "it changed and was not restarted");
    until(|| site.processes("kept").len() == 1, || format!("{:?}", site.processes("kept"))).await;
    door.stop().await;
    site.emptied().await;
}

/// Calls the server that stays and the one that is replaced; panics if a response is lost or
/// wrong.
async fn start_load(door: &Door, stop: &Arc<AtomicBool>) -> JoinSet<usize> {
    let mut load = JoinSet::new();
    for number in 0..CALLERS {
        let mut caller =
            Caller::open(door, None, if number.is_multiple_of(2) { LEGACY } else { MODERN }).await;
        let stop = stop.clone();
        let tool = if number.is_multiple_of(PATIENT) { "changing_echo" } else { "kept_echo" };
        load.spawn(async move {
            let mut calls = 0;
            let mut pace = tokio::time::interval(Duration::from_secs(1) / (RATE / CALLERS));
            pace.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Burst);
            while !stop.load(Ordering::Relaxed) {
                pace.tick().await;
                let mine = format!("{number}/{calls}");
                let message = caller.call(tool, json!({ "text": mine })).await;
                assert_eq!(text(&message).as_deref(), Some(mine.as_str()), "{tool}: {message:#}");
                calls += 1;
            }
            calls
        });
    }
    load
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v01_an_invalid_file_changes_nothing_and_the_status_says_why() {
    let site = Site::new("invalid");
    site.configure(&version(&site, 1));
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, LEGACY).await;
    let kept = caller.insist("kept_pid", json!({})).await;
    let first = generation(&door.status().await);
    for (wrong, why) in [
        ("{\n  \"mcp\": {\n", "trunkline.json:"),
        ("{\"mcp\": {\"servers\": {\"kept\": {\"comand\": [\"x\"]}}}}", "comand"),
        (
            "{\"mcp\": {\"servers\": {\"kept\": {\"command\": [\"{env:NOT_SET_ANYWHERE}\"]}}}}",
            "NOT_SET_ANYWHERE",
        ),
    ] {
        site.write("trunkline.json", wrong);
        let told =
            |status: &Value| status["config"]["lastError"]["text"].as_str().unwrap_or("").contains(why);
        let status = door.until(told).await;
        assert_eq!(generation(&status), first, "{status:#}");
        assert_eq!(caller.said("kept_pid", json!({})).await, kept);
    }
    site.configure(&version(&site, 3));
    let status = door.until(|status| has_view(status, 3)).await;
    assert!(status["config"]["lastError"].is_null(), "{status:#}");
    assert_eq!(caller.said("kept_pid", json!({})).await, kept);
    door.stop().await;
    site.emptied().await;
}

/// Number of changes in quick succession.
const BURST: u64 = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v01_a_hundred_changes_in_a_moment_become_few_and_the_last_one_holds() {
    let site = Site::new("burst");
    site.configure(&version(&site, 1));
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    let kept = caller.insist("kept_pid", json!({})).await;
    let first = generation(&door.status().await);
    for number in 2..2 + BURST {
        site.configure(&version(&site, number));
        door.signal(Signal::HUP);
    }
    let status = door.until(|status| has_view(status, 1 + BURST)).await;
    let reloads = generation(&status) - first;
    println!("{BURST} changes became {reloads} reloads");
    assert!(reloads < BURST / 2, "{reloads} reloads");
    assert_eq!(caller.said("kept_pid", json!({})).await, kept);
    assert_eq!(caller.insist("changing_echo", json!({"text": "last"})).await, "last");
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v05_servers_of_a_project_wait_until_somebody_agreed_and_again_after_a_change() {
    let site = Site::new("strangers");
    let own = json!({"mcp": {"servers": {"mine": site.echo("mine", "modern")}}, "audit": {"enabled": false}});
    site.write(".config/trunkline/trunkline.json", &own.to_string());
    let project = |name: &str| {
        let marker = site.path(name).display().to_string();
        let mut server =
            site.local("theirs", &["sh".into(), "-c".into(), format!("touch '{marker}'; exec sleep 1000")]);
        server["start"] = "eager".into();
        site.write("project/trunkline.json", &json!({"mcp": {"servers": {"theirs": server}}}).to_string());
    };
    project("first");
    let mut command = site.binary();
    command.args(["serve", "--json", "--listen", "127.0.0.1:0"]).current_dir(site.path("project"));
    let mut door = Door::start(&mut command);
    let mut caller = Caller::open(&door, None, MODERN).await;
    assert_eq!(caller.insist("mine_echo", json!({"text": "mine"})).await, "mine");
    assert!(door.upstream("theirs").await.is_null(), "{:#}", door.status().await);
    assert!(!site.path("first").exists());
    let agreed =
        site.binary().args(["config", "approve", "theirs"]).current_dir(site.path("project")).output();
    let agreed = agreed.unwrap();
    assert!(agreed.status.success(), "{agreed:?}");
    until(|| site.path("first").exists(), || "it was approved and did not start".into()).await;
    project("second");
    door.until(|status| crate::upstream::upstream(status, "theirs").is_null()).await;
    assert_eq!(caller.said("mine_echo", json!({"text": "still mine"})).await, "still mine");
    assert!(!site.path("second").exists());
    door.stop().await;
    site.emptied().await;
}
