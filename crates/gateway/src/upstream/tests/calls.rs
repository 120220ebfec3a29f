//! Outcomes of calls: slots, time limits, retries, losses.

use super::{
    super::*,
    fake::{Fake, Life, call, call_as, until, until_listed},
};
use crate::limit::Quota;
use serde_json::json;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::time::Instant;
use trunkline_protocol::{Call, Era, FaultKind, Handler, Part, Raw};
use trunkline_resilience::{BreakerOptions, Safety, TimeoutOptions, Timeouts};

#[tokio::test(start_paused = true)]
async fn u01_a_call_that_the_server_dies_on_ends_at_once_and_says_that_it_may_have_run() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    let under_way = tokio::spawn(upstream.call(call("never")).outcome());
    tokio::time::sleep(Duration::from_secs(1)).await;
    let began = Instant::now();
    fake.session(0).kill();
    let fault = under_way.await.unwrap().unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(fault.message(), "`fake` was lost before it answered `tools/call`; the call may have run");
    let error = fault.to_error(Era::Modern);
    assert_eq!(error.data.unwrap().member_as::<String>("server").unwrap(), "fake");
    until_listed(&upstream).await;
    assert_eq!(fake.session(1).calls.load(Ordering::SeqCst), 1, "the list only: the call is not repeated");
}

#[tokio::test(start_paused = true)]
async fn what_only_asks_is_asked_again_on_the_next_session() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    let mut read = call("never");
    read.method = "resources/read".into();
    let under_way = tokio::spawn(upstream.call(read).outcome());
    tokio::time::sleep(Duration::from_secs(1)).await;
    fake.session(0).kill();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(!under_way.is_finished());
    assert_eq!(fake.session(1).calls.load(Ordering::SeqCst), 2, "the list, and the question again");
    under_way.abort();
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_called_again_only_where_the_configuration_says_that_it_may_be() {
    let said = |repeats| ToolRules::new(move |_| ToolOptions { repeats, ..ToolOptions::default() });
    for (tools, annotations, calls) in [
        (said(Some(Safety::Repeatable)), Annotations::Ignored, 2),
        (said(None), Annotations::Believed, 2),
        (said(Some(Safety::AtMostOnce)), Annotations::Believed, 1),
        (said(None), Annotations::Ignored, 1),
    ] {
        let fake = Fake::legacy();
        *fake.tools.lock().unwrap() =
            vec![json!({"name": "never", "inputSchema": {}, "annotations": {"idempotentHint": true}})];
        let upstream = fake.upstream(UpstreamOptions { tools, annotations, ..UpstreamOptions::default() });
        until_listed(&upstream).await;
        let under_way = tokio::spawn(upstream.call(call("never")).outcome());
        tokio::time::sleep(Duration::from_secs(1)).await;
        fake.session(0).kill();
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(fake.session(1).calls.load(Ordering::SeqCst), calls);
        under_way.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn while_somebody_thinks_about_a_question_only_the_ceiling_counts() {
    let second = Duration::from_secs(1);
    let limits = TimeoutOptions { call: 10 * second, ceiling: 100 * second, ..TimeoutOptions::default() };
    let timeouts = Timeouts::new(limits).unwrap();
    let upstream = Fake::modern().upstream(UpstreamOptions { timeouts, ..UpstreamOptions::default() });
    until_listed(&upstream).await;
    let asking = call_as("ada", &json!({"elicitation": {}}), "asks");
    let mut replies = [upstream.call(asking.clone()), upstream.call(asking)];
    let mut questions = Vec::new();
    for reply in &mut replies {
        let Some(Part::Question(question)) = reply.next().await else { panic!("no question") };
        questions.push(question);
    }
    let [answered, forgotten] = replies.map(|reply| tokio::spawn(reply.outcome()));
    tokio::time::sleep(35 * second).await;
    assert!(!answered.is_finished());
    questions.remove(0).answer(Ok(Raw::empty_object()));
    assert_eq!(answered.await.unwrap().unwrap(), Raw::empty_object());
    tokio::time::sleep(64 * second).await;
    assert!(!forgotten.is_finished());
    let fault = forgotten.await.unwrap().unwrap_err();
    assert!(fault.message().contains("100s"), "{fault}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_never_sent_is_sent_once_the_server_is_back() {
    let fake = Fake::modern();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    upstream.call(call("unreachable-at-first")).outcome().await.unwrap();
    assert_eq!(fake.tries(), 2, "the failure made the upstream reconnect");
}

#[tokio::test(start_paused = true)]
async fn u03_silence_ends_with_a_timeout_that_names_the_limit() {
    let fake = Fake::legacy();
    let limit = |seconds| {
        let call = Duration::from_secs(seconds);
        Timeouts::new(TimeoutOptions { call, ..TimeoutOptions::default() }).unwrap()
    };
    let tools = ToolRules::new(move |tool| ToolOptions {
        timeouts: (tool == "gate").then(|| limit(20)),
        ..ToolOptions::default()
    });
    let options = UpstreamOptions { timeouts: limit(5), tools, ..UpstreamOptions::default() };
    let upstream = fake.upstream(options);
    until_listed(&upstream).await;
    let began = Instant::now();
    let fault = upstream.call(call("never")).outcome().await.unwrap_err();
    assert_eq!((fault.kind(), began.elapsed().as_secs()), (FaultKind::Timeout, 5));
    assert_eq!(fault.message(), "`fake` did not answer `tools/call`: no answer and no progress within 5s");
    let began = Instant::now();
    upstream.call(call("gate")).outcome().await.unwrap_err();
    assert_eq!(began.elapsed().as_secs(), 20);
    let mut hurried = call("never");
    hurried.deadline = Some((Instant::now() + Duration::from_secs(1)).into_std());
    let began = Instant::now();
    upstream.call(hurried).outcome().await.unwrap_err();
    assert_eq!(began.elapsed().as_secs(), 1);
}

#[tokio::test(start_paused = true)]
async fn u14_a_slow_server_takes_so_many_calls_and_refuses_the_rest_at_once() {
    let fake = Fake::modern();
    let bulkhead = BulkheadOptions { concurrency: 10, queue: 20, wait: Duration::from_secs(2) };
    let upstream = fake.upstream(UpstreamOptions { bulkhead, ..UpstreamOptions::default() });
    until_listed(&upstream).await;
    let calls: Vec<_> = (0..1000).map(|_| tokio::spawn(upstream.call(call("gate")).outcome())).collect();
    tokio::time::sleep(Duration::from_millis(1)).await;
    let status = upstream.status();
    assert_eq!((status.calls.in_flight, status.calls.waiting), (10, 20));
    assert_eq!(calls.iter().filter(|call| call.is_finished()).count(), 970);
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!((upstream.status().calls.in_flight, upstream.status().calls.waiting), (10, 0));
    fake.gate.notify_waiters();
    let mut answered = 0;
    for call in calls {
        match call.await.unwrap() {
            Ok(_) => answered += 1,
            Err(fault) => assert_eq!(fault.kind(), FaultKind::Overloaded),
        }
    }
    assert_eq!((answered, upstream.status().calls.in_flight), (10, 0));
    assert_eq!(upstream.status().calls.refused, 990);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_gives_its_place_back() {
    let fake = Fake::modern();
    let bulkhead = BulkheadOptions { concurrency: 1, queue: 1, wait: Duration::from_mins(1) };
    let upstream = fake.upstream(UpstreamOptions { bulkhead, ..UpstreamOptions::default() });
    until_listed(&upstream).await;
    for _ in 0..10 {
        let first = tokio::spawn(upstream.call(call("never")).outcome());
        tokio::time::sleep(Duration::from_millis(1)).await;
        let second = tokio::spawn(upstream.call(call("never")).outcome());
        tokio::time::sleep(Duration::from_millis(1)).await;
        second.abort();
        first.abort();
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    upstream.call(call("echo")).outcome().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn u02_a_server_that_only_answers_nonsense_is_given_a_rest() {
    let fake = Fake::modern();
    let breaker = BreakerOptions { failures: 3, ..BreakerOptions::default() };
    let upstream = fake.upstream(UpstreamOptions { breaker, ..UpstreamOptions::default() });
    until_listed(&upstream).await;
    for _ in 0..3 {
        let fault = upstream.call(call("sick")).outcome().await.unwrap_err();
        assert_eq!(fault.message(), "`fake`: gibberish");
    }
    assert_eq!(upstream.status().breaker, BreakerStatus::Open);
    let fault = upstream.call(call("echo")).outcome().await.unwrap_err();
    assert!(
        fault.message().starts_with("`fake` failed 3 times in a row; its circuit breaker is open"),
        "{fault}"
    );
    tokio::time::sleep(Duration::from_secs(30)).await;
    upstream.call(call("echo")).outcome().await.unwrap();
    assert_eq!(upstream.status().breaker, BreakerStatus::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_new_session_has_the_breaker_of_the_one_before() {
    let fake = Fake::modern();
    let breaker = BreakerOptions { failures: 1, ..BreakerOptions::default() };
    let upstream = fake.upstream(UpstreamOptions { breaker, ..UpstreamOptions::default() });
    until_listed(&upstream).await;
    upstream.call(call("sick")).outcome().await.unwrap_err();
    assert_eq!(upstream.status().breaker, BreakerStatus::Open);
    fake.session(0).kill();
    until(&upstream, |status| status.state == State::Lost).await;
    until_listed(&upstream).await;
    let fault = upstream.call(call("echo")).outcome().await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Unavailable, "{fault}");
    tokio::time::sleep(Duration::from_secs(30)).await;
    upstream.call(call("echo")).outcome().await.unwrap();
    assert_eq!(upstream.status().breaker, BreakerStatus::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_exits_counts_once_however_many_calls_it_takes_with_it() {
    let fake = Fake::modern();
    let breaker = BreakerOptions { failures: 3, ..BreakerOptions::default() };
    let upstream = fake.upstream(UpstreamOptions { breaker, ..UpstreamOptions::default() });
    for round in 0..3 {
        until_listed(&upstream).await;
        assert_eq!(upstream.status().breaker, BreakerStatus::Closed, "round {round}");
        let calls: Vec<_> = (0..5).map(|_| tokio::spawn(upstream.call(call("never")).outcome())).collect();
        tokio::time::sleep(Duration::from_secs(1)).await;
        fake.session(round).kill();
        for call in calls {
            call.await.unwrap().unwrap_err();
        }
    }
    assert_eq!(upstream.status().breaker, BreakerStatus::Open);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_leaves_after_a_quiet_time_opens_no_breaker() {
    let fake = Fake::modern();
    let breaker = BreakerOptions { failures: 1, ..BreakerOptions::default() };
    let upstream = fake.upstream(UpstreamOptions { breaker, ..UpstreamOptions::default() });
    until_listed(&upstream).await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    fake.session(0).kill();
    until(&upstream, |status| status.state == State::Lost).await;
    until_listed(&upstream).await;
    upstream.call(call("echo")).outcome().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_holds_for_all_callers_together() {
    let fake = Fake::modern();
    let rate = Some(Quota::new(2.try_into().unwrap(), Duration::from_mins(1)));
    let upstream = fake.upstream(UpstreamOptions { rate, ..UpstreamOptions::default() });
    until_listed(&upstream).await;
    for who in ["ada", "bob"] {
        upstream.call(call_as(who, &json!({}), "echo")).outcome().await.unwrap();
    }
    let fault = upstream.call(call_as("eve", &json!({}), "echo")).outcome().await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::RateLimited);
    assert_eq!(fault.data().unwrap().as_str(), r#"{"retryAfter":30,"retryAfterMs":30000,"server":"fake"}"#);
}

#[tokio::test(start_paused = true)]
async fn listening_takes_nobodys_place_and_has_no_time_limit() {
    let fake = Fake::modern();
    let bulkhead = BulkheadOptions { concurrency: 1, queue: 0, wait: Duration::ZERO };
    let upstream = fake.upstream(UpstreamOptions { bulkhead, ..UpstreamOptions::default() });
    until_listed(&upstream).await;
    let listening = tokio::spawn(upstream.call(Call::new("subscriptions/listen", None)).outcome());
    tokio::time::sleep(Duration::from_hours(2)).await;
    assert!(!listening.is_finished());
    upstream.call(call("echo")).outcome().await.unwrap();
    fake.session(0).kill();
    let fault = listening.await.unwrap().unwrap_err();
    assert_eq!(fault.kind(), FaultKind::ServerExited, "the subscriber must be told");
}

#[tokio::test(start_paused = true)]
async fn a_call_during_a_short_absence_waits_for_the_return() {
    let fake = Fake::legacy();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    fake.session(0).kill();
    tokio::time::sleep(Duration::from_millis(1)).await;
    upstream.call(call("echo")).outcome().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn latency_and_counts_are_told() {
    let fake = Fake::modern();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    for _ in 0..5 {
        upstream.call(call("echo")).outcome().await.unwrap();
    }
    let status = upstream.status();
    assert_eq!((status.calls.total, status.calls.failed, status.latency.unwrap().calls), (5, 0, 5));
    let page = serde_json::to_value(&status).unwrap();
    assert_eq!((&page["state"], &page["calls"]["inFlight"]), (&json!("ready"), &json!(0)));
}

#[tokio::test(start_paused = true)]
async fn u01_an_address_where_nobody_is_any_more_is_noticed_when_a_call_breaks() {
    let fake = Fake::modern();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    upstream.call(call("breaks")).outcome().await.unwrap_err();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!((upstream.status().state, fake.tries()), (State::Ready, 1), "only that call broke");
    *fake.sign_of_life.lock().unwrap() = Life::Refused;
    let fault = upstream.call(call("breaks")).outcome().await.unwrap_err();
    assert!(fault.message().contains("may have run"));
    until(&upstream, |status| status.state == State::Lost).await;
    until_listed(&upstream).await;
    assert_eq!(fake.tries(), 2);
}

#[tokio::test(start_paused = true)]
async fn u03_a_server_that_hangs_is_started_anew() {
    let fake = Fake::legacy();
    let breaker = BreakerOptions { failures: 3, ..BreakerOptions::default() };
    let upstream = fake.upstream(UpstreamOptions { breaker, ..UpstreamOptions::default() });
    until_listed(&upstream).await;
    for _ in 0..3 {
        upstream.call(call("never")).outcome().await.unwrap_err();
    }
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(fake.tries(), 1, "it answers liveness checks, so only the tool hangs");
    *fake.sign_of_life.lock().unwrap() = Life::Silent;
    upstream.call(call("never")).outcome().await.unwrap_err();
    until(&upstream, |status| status.state == State::Lost).await;
    until_listed(&upstream).await;
    upstream.call(call("echo")).outcome().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn l02_twice_the_load_gets_all_that_the_server_can_do_and_the_rest_is_refused_soon() {
    let fake = Fake::modern();
    let bulkhead = BulkheadOptions { concurrency: 10, queue: 100, wait: Duration::from_secs(1) };
    let upstream = fake.upstream(UpstreamOptions { bulkhead, ..UpstreamOptions::default() });
    until_listed(&upstream).await;
    let counts = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    for _ in 0..10_000 {
        for _ in 0..2 {
            let (reply, counts) = (upstream.call(call("queue")), counts.clone());
            tokio::spawn(async move {
                let began = Instant::now();
                match reply.outcome().await {
                    Ok(_) => counts.0.fetch_add(1, Ordering::SeqCst),
                    Err(fault) => {
                        assert_eq!(fault.kind(), FaultKind::Overloaded);
                        assert!(began.elapsed() <= Duration::from_millis(5), "{:?}", began.elapsed());
                        counts.1.fetch_add(1, Ordering::SeqCst)
                    }
                };
            });
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let answered = counts.0.load(Ordering::SeqCst);
    // The timer's resolution of one millisecond costs a tenth of the throughput.
    assert!(answered >= 8_000, "{answered} of the 10 000 that the server can do in ten seconds");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let began = Instant::now();
    upstream.call(call("queue")).outcome().await.unwrap();
    assert!(began.elapsed() < Duration::from_millis(20), "the queue has drained");
    assert_eq!((upstream.status().calls.in_flight, upstream.status().calls.waiting), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn u18_a_call_that_a_server_refused_is_repeated_after_the_time_that_it_named() {
    let fake = Fake::modern();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    let began = Instant::now();
    upstream.call(call("too-often-at-first")).outcome().await.unwrap();
    assert!((6..10).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn u18_a_time_beyond_the_budget_or_the_deadline_is_passed_on_at_once() {
    let fake = Fake::modern();
    let upstream = fake.upstream(UpstreamOptions::default());
    until_listed(&upstream).await;
    let mut hurried = call("too-often");
    hurried.deadline = Some((Instant::now() + Duration::from_secs(5)).into_std());
    for (call, seconds) in [(call("too-often-for-long"), 3600), (hurried, 7)] {
        let began = Instant::now();
        let fault = upstream.call(call).outcome().await.unwrap_err();
        assert_eq!(fault.kind(), FaultKind::RateLimited);
        assert_eq!(fault.data().unwrap().member_as::<u64>("retryAfter"), Some(seconds));
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    }
}
