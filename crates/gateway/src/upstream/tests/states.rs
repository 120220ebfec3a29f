//! Connecting, losing and reconnecting an upstream.

use super::{
    super::*,
    fake::{ConnectOutcome, Fake, call, until, until_listed},
};
use std::{sync::atomic::Ordering, time::Duration};
use tokio::time::Instant;
use trunkline_protocol::{FaultKind, Handler};

#[tokio::test(start_paused = true)]
async fn it_connects_behind_the_door_and_tells_its_lists() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    assert_eq!(upstream.status().state, State::Idle, "starting returns at once");
    assert!(upstream.offer().is_none());
    let offer = until_listed(&upstream).await;
    assert_eq!((offer.tools.len(), offer.stale), (1, false));
    let status = upstream.status();
    assert_eq!((status.state, status.failures, status.restarts), (State::Ready, 0, 0));
    assert_eq!(status.revision, Some("2025-11-25"));
}

#[tokio::test(start_paused = true)]
async fn u02_a_server_that_cannot_be_reached_is_tried_for_ever_with_growing_pauses() {
    let fake = Fake::legacy();
    *fake.always.lock().unwrap() = Some(FaultKind::CannotConnect);
    let upstream = fake.upstream(UpstreamOptions::default());
    tokio::time::sleep(Duration::from_hours(1)).await;
    let tries = fake.tries();
    // Pauses of 15 to 30 s, after the shorter ones of the backoff.
    assert!((120..=260).contains(&tries), "{tries}");
    let status = upstream.status();
    assert_eq!(status.state, State::Lost);
    assert!(status.next_try_ms.is_some_and(|ms| ms <= 30_000));
    let began = Instant::now();
    let fault = upstream.call(call("echo")).outcome().await.unwrap_err();
    assert!(began.elapsed() <= Duration::from_secs(1));
    assert!(
        fault.message().contains("`fake` is not available") && !fault.message().contains("secret"),
        "{fault}"
    );
    *fake.always.lock().unwrap() = None;
    until_listed(&upstream).await;
    assert!(upstream.status().failures > 100, "they count until a session proves stable");
    until(&upstream, |status| status.failures == 0).await;
}

#[tokio::test(start_paused = true)]
async fn u02_pauses_between_starts_grow_by_the_configured_factor() {
    for (factor, expected) in [(1, 100..=201), (2, 6..=8), (10, 3..=4)] {
        let fake = Fake::legacy();
        *fake.always.lock().unwrap() = Some(FaultKind::CannotConnect);
        let (base, ceiling) = (Duration::from_secs(1), Duration::from_mins(5));
        let restart = RestartOptions { base, factor, ceiling, ..RestartOptions::default() };
        let upstream = fake.upstream(UpstreamOptions { restart, ..UpstreamOptions::default() });
        tokio::time::sleep(Duration::from_secs(100)).await;
        assert!(expected.contains(&fake.tries()), "factor {factor}: {} tries", fake.tries());
        upstream.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn u02_a_missing_program_is_looked_for_once_a_minute_or_when_told() {
    let fake = Fake::legacy();
    fake.next_connects([ConnectOutcome::Missing, ConnectOutcome::Missing, ConnectOutcome::Missing]);
    let upstream = fake.upstream(UpstreamOptions::default());
    let status = until(&upstream, |status| status.state == State::Failed).await;
    assert_eq!(status.last_error.unwrap().name, "cannot-start");
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert_eq!(fake.tries(), 1);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(fake.tries(), 2);
    upstream.retry();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(fake.tries(), 3);
    upstream.retry();
    until_listed(&upstream).await;
}

#[tokio::test(start_paused = true)]
async fn u02_a_server_that_hangs_while_connecting_is_given_up() {
    let fake = Fake::legacy();
    fake.next_connects([ConnectOutcome::Hangs]);
    let upstream = fake.upstream(UpstreamOptions::default());
    let status = until(&upstream, |status| status.state == State::Lost).await;
    assert_eq!(status.last_error.unwrap().name, "timeout");
    until_listed(&upstream).await;
}

#[tokio::test(start_paused = true)]
async fn u01_a_lost_server_leaves_its_list_marked_stale_and_is_back_soon() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    let began = Instant::now();
    fake.session(0).kill();
    let status = until(&upstream, |status| status.state == State::Lost).await;
    assert!(status.stale && upstream.offer().unwrap().stale);
    assert_eq!(status.last_error.as_ref().unwrap().name, "server-exited");
    until_listed(&upstream).await;
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!(upstream.status().restarts, 1);
    assert!(fake.session(0).closed.load(Ordering::SeqCst), "a lost session is closed");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_crashes_again_and_again_is_back_within_five_seconds_each_time() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    let mut longest = Duration::ZERO;
    for round in 0..50 {
        until_listed(&upstream).await;
        let began = Instant::now();
        fake.session(round).kill();
        until(&upstream, |status| status.state == State::Lost).await;
        until_listed(&upstream).await;
        longest = longest.max(began.elapsed());
    }
    assert!(longest < Duration::from_secs(5) && longest > Duration::from_secs(1), "{longest:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_served_is_restarted_at_once_however_often() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    for round in 0..50 {
        until_listed(&upstream).await;
        upstream.call(call("echo")).outcome().await.unwrap();
        let began = Instant::now();
        fake.session(round).kill();
        until(&upstream, |status| status.state == State::Lost).await;
        until_listed(&upstream).await;
        assert!(began.elapsed() < Duration::from_millis(300), "{:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_lazy_server_is_started_by_the_first_call_or_the_first_list() {
    let lazy = || UpstreamOptions { start: Start::WhenNeeded, ..UpstreamOptions::default() };
    let fake = Fake::legacy();
    let upstream = fake.upstream(lazy());
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert_eq!((fake.tries(), upstream.status().state), (0, State::Idle));
    upstream.call(call("echo")).outcome().await.unwrap();
    assert_eq!(until_listed(&upstream).await.tools.len(), 1);
    assert_eq!(fake.tries(), 1, "the caller's session serves the lists as well");

    let fake = Fake::legacy();
    let upstream = fake.upstream(lazy());
    upstream.wake();
    until_listed(&upstream).await;
}

#[tokio::test(start_paused = true)]
async fn an_idle_server_ends_and_the_next_call_starts_it_again() {
    let fake = Fake::legacy();
    let idle = Duration::from_mins(2);
    let upstream = fake.upstream(UpstreamOptions { idle: Some(idle), ..UpstreamOptions::default() });
    until_listed(&upstream).await;
    tokio::time::sleep(Duration::from_secs(100)).await;
    upstream.call(call("echo")).outcome().await.unwrap();
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert_eq!(upstream.status().state, State::Ready, "a call postpones the stop");
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(upstream.status().state, State::Idle);
    assert_eq!(fake.open_sessions(), 0);
    assert!(!upstream.offer().unwrap().stale, "it is idle, not lost");
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(fake.tries(), 1);
    upstream.call(call("echo")).outcome().await.unwrap();
    assert_eq!((fake.tries(), upstream.status().state, upstream.status().restarts), (2, State::Ready, 0));
}

#[tokio::test(start_paused = true)]
async fn a_server_with_a_call_under_way_is_not_idle() {
    let fake = Fake::legacy();
    let options = UpstreamOptions { idle: Some(Duration::from_secs(5)), ..UpstreamOptions::default() };
    let upstream = fake.upstream(options);
    until_listed(&upstream).await;
    let slow = tokio::spawn(upstream.call(call("gate")).outcome());
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert_eq!(upstream.status().state, State::Ready);
    fake.gate.notify_one();
    slow.await.unwrap().unwrap();
    until(&upstream, |status| status.state == State::Idle).await;
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_sessions_and_refuses_calls() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    let under_way = tokio::spawn(upstream.call(call("never")).outcome());
    tokio::time::sleep(Duration::from_millis(1)).await;
    upstream.stop().await;
    assert_eq!((upstream.status().state, fake.open_sessions()), (State::Stopped, 0));
    let fault = under_way.await.unwrap().unwrap_err();
    assert!(fault.message().contains("may have run"), "{fault}");
    let fault = upstream.call(call("echo")).outcome().await.unwrap_err();
    assert_eq!(fault.message(), "`fake` was stopped");
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert_eq!(fake.tries(), 1);
}

#[tokio::test(start_paused = true)]
async fn draining_lets_calls_end_and_takes_those_that_come_late() {
    let fake = Fake::modern();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    let slow = tokio::spawn(upstream.call(call("gate")).outcome());
    tokio::time::sleep(Duration::from_millis(1)).await;
    let draining = tokio::spawn({
        let upstream = upstream.clone();
        async move { upstream.drain(Duration::from_secs(10)).await }
    });
    tokio::time::sleep(Duration::from_millis(1)).await;
    upstream.call(call("echo")).outcome().await.unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(!draining.is_finished());
    fake.gate.notify_one();
    slow.await.unwrap().unwrap();
    draining.await.unwrap();
    assert_eq!((upstream.status().state, fake.open_sessions()), (State::Stopped, 0));
}

#[tokio::test(start_paused = true)]
async fn draining_does_not_last_for_ever() {
    let fake = Fake::modern();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    let endless = tokio::spawn(upstream.call(call("never")).outcome());
    tokio::time::sleep(Duration::from_millis(1)).await;
    let began = Instant::now();
    upstream.drain(Duration::from_secs(10)).await;
    assert!((10..11).contains(&began.elapsed().as_secs()));
    endless.await.unwrap().unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn what_was_offered_before_is_shown_until_the_server_runs() {
    let fake = Fake::legacy();
    let before = fake.upstream(UpstreamOptions::default());
    let known = Offer { stale: true, ..(*until_listed(&before).await).clone() };
    let options = UpstreamOptions { start: Start::WhenNeeded, ..UpstreamOptions::default() };
    let upstream = fake.upstream(options);
    upstream.recall(known.clone());
    assert_eq!(upstream.offer().unwrap().tools.len(), 1);
    assert_eq!(upstream.status().state, State::Idle);
    upstream.wake();
    assert!(!until_listed(&upstream).await.stale);
    upstream.recall(known);
    assert!(!upstream.offer().unwrap().stale, "a current offer is never replaced by a recalled one");
}

#[tokio::test(start_paused = true)]
async fn stopping_while_it_connects_leaves_nothing() {
    let fake = Fake::legacy();
    fake.next_connects([ConnectOutcome::Hangs]);
    let upstream = fake.upstream(UpstreamOptions::default());
    until(&upstream, |status| status.state == State::Connecting).await;
    upstream.stop().await;
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert_eq!((fake.tries(), fake.open_sessions()), (1, 0));
    assert_eq!(std::sync::Arc::strong_count(&fake), 2, "only the test and the stopped upstream hold it");
}

#[tokio::test(start_paused = true)]
async fn an_upstream_that_is_dropped_ends() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    drop(upstream);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(fake.open_sessions(), 0);
}

#[tokio::test(start_paused = true)]
async fn u16_a_gateway_that_is_its_own_upstream_is_refused_and_says_so() {
    let fake = Fake::modern();
    *fake.meta.lock().unwrap() = serde_json::json!({BEHIND: ["other", "me"]});
    let options = UpstreamOptions { instance: Some("me".into()), ..UpstreamOptions::default() };
    let upstream = fake.upstream(options);
    let status = until(&upstream, |status| status.state == State::Failed).await;
    assert!(status.last_error.unwrap().text.contains("leads back to it"));
    assert_eq!((fake.tries(), fake.open_sessions()), (1, 0));
}
