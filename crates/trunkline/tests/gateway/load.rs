//! Many sessions that do nothing.

use crate::{
    caller::{Caller, LEGACY},
    processes,
    site::{HANG, PAUSE, Site},
};
use serde_json::json;
use std::time::Instant;

const SESSIONS: usize = 1000;
/// What may be opened at all.
const MOST: usize = 1010;
/// What one session may cost, in KiB.
const EACH_KIB: u64 = 64;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l01_a_thousand_idle_sessions_cost_little_and_more_are_refused() {
    let site = Site::new("idle");
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "limits": {"sessions": MOST},
    }));
    let mut door = site.open();
    let mut first = Caller::open(&door, None, LEGACY).await;
    first.insist("echo_echo", json!({"text": "there"})).await;
    let before = processes::resident_kib(door.pid());
    let began = Instant::now();
    for _ in 1..SESSIONS {
        first.session = None;
        first.begin().await;
    }
    let after = processes::resident_kib(door.pid());
    let each = after.saturating_sub(before) / SESSIONS as u64;
    println!(
        "{SESSIONS} sessions in {:?}: {before} KiB became {after} KiB, {each} KiB each",
        began.elapsed()
    );
    assert!(each <= EACH_KIB, "{each} KiB for each session");
    for _ in SESSIONS..MOST {
        first.session = None;
        first.begin().await;
    }
    let last = first.session.take();
    let params =
        json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let refused = first.ask(&json!(1), "initialize", params).await.unwrap();
    assert_eq!(refused.status, 503, "{}", refused.text());
    first.session = last;
    assert_eq!(first.said("echo_echo", json!({"text": "served"})).await, "served");
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l01_a_silent_session_is_forgotten() {
    let site = Site::new("silent");
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "limits": {"sessionIdle": "1s"},
    }));
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, LEGACY).await;
    let began = Instant::now();
    while !door.page("/metrics", None).await.contains("trunkline_sessions 0") {
        assert!(began.elapsed() < HANG, "the session is still there");
        tokio::time::sleep(PAUSE).await;
    }
    let answer = caller.ask(&json!(1), "tools/list", json!({})).await.unwrap();
    assert_eq!(answer.status, 404, "{}", answer.text());
    door.stop().await;
    site.emptied().await;
}
