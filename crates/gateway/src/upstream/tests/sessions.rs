//! The assignment of sessions to callers.

use super::{
    super::*,
    fake::{Fake, call, call_as, until, until_listed},
};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use trunkline_protocol::{Caller, FaultKind, Handler, Notification, Notify};

fn able() -> Value {
    json!({"elicitation": {}})
}

async fn session_of(upstream: &Upstream, who: &str, capabilities: &Value) -> u64 {
    let outcome = upstream.call(call_as(who, capabilities, "echo")).outcome().await.unwrap();
    outcome.member_as("session").unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_has_one_session_for_all() {
    let fake = Fake::modern();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    for who in ["ada", "bob", "eve"] {
        assert_eq!(session_of(&upstream, who, &able()).await, 0);
    }
    assert_eq!(fake.tries(), 1);
}

#[tokio::test(start_paused = true)]
async fn many_first_callers_of_a_modern_server_share_the_first_session() {
    let fake = Fake::modern();
    let upstream = fake.upstream(UpstreamOptions { start: Start::WhenNeeded, ..UpstreamOptions::default() });
    let calls: Vec<_> = (0..20)
        .map(|n| tokio::spawn(upstream.call(call_as(&format!("u{n}"), &able(), "echo")).outcome()))
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(fake.tries(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_legacy_server_has_a_session_per_caller_and_capabilities() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    let ada = session_of(&upstream, "ada", &able()).await;
    let ada_can_more = session_of(&upstream, "ada", &json!({"elicitation": {}, "roots": {}})).await;
    let bob = session_of(&upstream, "bob", &able()).await;
    assert_eq!([ada, ada_can_more, bob], [1, 2, 3]);
    assert_eq!(session_of(&upstream, "ada", &able()).await, ada);
    let profile = &fake.session(1).profile;
    assert_eq!((profile.principal.as_str(), profile.capabilities.as_str()), ("ada", r#"{"elicitation":{}}"#));
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_can_do_nothing_takes_over_the_gateways_own_session() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    assert_eq!(session_of(&upstream, "ada", &json!({})).await, 0);
    assert_eq!(fake.tries(), 1, "the program does not run twice");
    assert_eq!(session_of(&upstream, "bob", &json!({})).await, 1, "it is ada's now");
    assert_eq!(fake.open_sessions(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_gateways_own_session_ends_when_a_caller_has_one() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    assert_eq!(session_of(&upstream, "ada", &able()).await, 1);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(fake.session(0).closed.load(Ordering::SeqCst));
    let status = upstream.status();
    assert_eq!((status.state, status.stale, status.sessions.len()), (State::Ready, false, 1));
    assert_eq!(status.sessions[0].principal.as_deref(), Some("ada"));
    fake.session(1).kill();
    until(&upstream, |status| status.state == State::Lost).await;
    until_listed(&upstream).await;
    assert_eq!(fake.session(2).profile.principal, "ada", "the session that was lost is opened again");
}

#[tokio::test(start_paused = true)]
async fn lists_are_not_read_again_for_every_new_caller() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions { start: Start::WhenNeeded, ..UpstreamOptions::default() });
    for n in 0..10 {
        session_of(&upstream, &format!("u{n}"), &able()).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(fake.lists_read.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_shared_session_declares_nothing() {
    let fake = Fake::legacy();
    let options = UpstreamOptions { sessions: Sessions::Shared, ..UpstreamOptions::default() };
    let upstream = fake.upstream(options);
    for who in ["ada", "bob"] {
        assert_eq!(session_of(&upstream, who, &able()).await, 0);
    }
    assert_eq!(fake.session(0).profile.capabilities, "{}");
    assert_eq!(fake.tries(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_least_recently_used_session_makes_room_and_busy_ones_stay() {
    let fake = Fake::legacy();
    let pool = PoolOptions { most: 3, per_principal: 2, idle: Duration::from_hours(1) };
    let upstream =
        fake.upstream(UpstreamOptions { pool, start: Start::WhenNeeded, ..UpstreamOptions::default() });
    for who in ["a", "b", "c"] {
        session_of(&upstream, who, &able()).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    session_of(&upstream, "a", &able()).await;
    let busy: Vec<_> =
        ["a", "c"].map(|who| tokio::spawn(upstream.call(call_as(who, &able(), "never")).outcome())).into();
    tokio::time::sleep(Duration::from_secs(1)).await;
    session_of(&upstream, "d", &able()).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(fake.session(1).closed.load(Ordering::SeqCst), "b was unused for longest");
    assert_eq!(fake.open_sessions(), 3);
    let third = tokio::spawn(upstream.call(call_as("d", &able(), "never")).outcome());
    tokio::time::sleep(Duration::from_secs(1)).await;
    let fault = upstream.call(call_as("e", &able(), "echo")).outcome().await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Overloaded);
    assert_eq!(fault.message(), "`fake` is busy: 3 sessions together, all in use");
    busy.iter().chain([&third]).for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test(start_paused = true)]
async fn one_caller_cannot_take_all_sessions() {
    let fake = Fake::legacy();
    let pool = PoolOptions { most: 10, per_principal: 2, idle: Duration::from_hours(1) };
    let upstream =
        fake.upstream(UpstreamOptions { pool, start: Start::WhenNeeded, ..UpstreamOptions::default() });
    for n in 0..20 {
        session_of(&upstream, "greedy", &json!({"roots": {}, "n": n})).await;
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(fake.open_sessions(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_uses_is_closed_and_the_last_one_stays() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    for who in ["a", "b", "c"] {
        session_of(&upstream, who, &able()).await;
    }
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(fake.open_sessions(), 1);
    assert_eq!(upstream.status().state, State::Ready);
}

#[tokio::test(start_paused = true)]
async fn s03_nothing_crosses_between_callers() {
    let fake = Fake::legacy();
    let bulkhead = BulkheadOptions { queue: 20_000, ..BulkheadOptions::default() };
    let upstream = fake.upstream(UpstreamOptions { bulkhead, ..UpstreamOptions::default() });
    let mut calls = Vec::new();
    for n in 0..20_000 {
        let who = format!("u{}", n % 20);
        // All calls are equal except for the caller's name.
        let reply = upstream.call(call_as(&who, &able(), "echo"));
        calls.push((who, tokio::spawn(reply.outcome())));
    }
    let mut sessions: HashMap<u64, String> = HashMap::new();
    for (who, call) in calls {
        let result = call.await.unwrap().unwrap();
        assert_eq!(result.member_as::<String>("principal").unwrap(), who);
        assert_eq!(result.member_as::<String>("caller").unwrap(), who);
        assert_eq!(result.member("arguments").unwrap().member_as::<String>("who").unwrap(), who);
        let session: u64 = result.member_as("session").unwrap();
        assert_eq!(*sessions.entry(session).or_insert_with(|| who.clone()), who);
    }
    assert_eq!(sessions.len(), 20);
}

#[tokio::test(start_paused = true)]
async fn s05_what_a_callers_session_says_is_told_as_that_callers() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    let mut events = upstream.events();
    until_listed(&upstream).await;
    session_of(&upstream, "ada", &json!({})).await;
    session_of(&upstream, "bob", &able()).await;
    fake.session(0).say("notifications/resources/updated");
    fake.session(1).say("notifications/resources/updated");
    let mut principals = Vec::new();
    for _ in 0..2 {
        principals.push(events.recv().await.unwrap().principal.unwrap().to_string());
    }
    assert_eq!(principals, ["ada", "bob"]);
}

#[tokio::test(start_paused = true)]
async fn a_notice_of_a_caller_reaches_its_own_sessions_only() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    session_of(&upstream, "ada", &able()).await;
    session_of(&upstream, "bob", &able()).await;
    let caller = Arc::new(Caller { id: "ada".to_owned(), ..(*Caller::local()).clone() });
    let notification = Notification::new("notifications/roots/list_changed", None);
    upstream.notify(Notify { notification, caller });
    assert_eq!(*fake.session(1).notifications.lock().unwrap(), ["notifications/roots/list_changed"]);
    assert!(fake.session(2).notifications.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_is_listened_to_for_changes() {
    let fake = Fake::modern();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    // One `tools/list`, one `subscriptions/listen`.
    assert_eq!(fake.session(0).calls.load(Ordering::SeqCst), 2);
    upstream.call(call("echo")).outcome().await.unwrap();
}
