//! U01–U05, U13, U14: scripted servers that crash, hang, answer late, answer other requests, flood
//! us or drop sessions.

use crate::{
    faults::{id_of, process_peer, run, seconds, text},
    support::*,
};
use serde_json::json;
use std::{fmt::Write as _, sync::Arc, time::Duration};
use tokio::time::Instant;
use trunkline_client::{
    CommandLine, ConnectOptions, RevisionChoice, Target,
    resilience::{TimeoutOptions, Timeouts},
};
use trunkline_gateway::upstream::{BulkheadOptions, InProcess, Start, State, Upstream, UpstreamOptions};
use trunkline_protocol::{Call, Era, FaultKind, Handler, Reply, message::meta};
use trunkline_testkit::script::{HttpPeer, ProcessPeer};

fn limits(connect: Duration, call: Duration) -> UpstreamOptions {
    let timeouts = Timeouts::new(TimeoutOptions { connect, call, ..TimeoutOptions::default() }).unwrap();
    UpstreamOptions { timeouts, ..UpstreamOptions::default() }
}

/// An upstream whose processes always complete the handshake and answer every call at once.
async fn obedient(name: &str) -> Arc<Upstream> {
    let peer = process_peer().await;
    let upstream = legacy(name, &peer, UpstreamOptions::default());
    tokio::spawn(obey(peer));
    ready(&upstream).await;
    upstream
}

async fn obey(peer: ProcessPeer) {
    loop {
        let mut line = peer.accept().await;
        tokio::spawn(async move {
            welcome(&mut line).await;
            while let Some(message) = line.line().await {
                let asked = trunkline_testkit::script::Asked::read(message);
                match asked.method.as_str() {
                    "tools/call" => line.answer(&asked, text("fine")).await,
                    "tools/list" => line.answer(&asked, tools()).await,
                    _ => {}
                }
            }
        });
    }
}

async fn assert_answers(upstream: &Arc<Upstream>) {
    upstream.call(call_of("work", &json!({}))).outcome().await.unwrap();
}

#[test]
fn u01_a_server_killed_during_a_call_is_named_within_a_second_and_comes_back() {
    run(async {
        let peer = process_peer().await;
        let victim = legacy("victim", &peer, UpstreamOptions::default());
        let other = obedient("other").await;
        let mut line = peer.accept().await;
        welcome(&mut line).await;
        ready(&victim).await;
        let call = begin(&victim, call_of("work", &json!({})));
        line.expect("tools/call").await;
        let killed = Instant::now();
        line.kill().await;
        let fault = call.await.unwrap().unwrap_err();
        assert!(killed.elapsed() < seconds(1), "{:?}", killed.elapsed());
        assert_eq!(fault.kind(), FaultKind::ConnectionLost);
        assert_eq!(
            fault.message(),
            "`victim` was lost before it answered `tools/call`; the call may have run"
        );
        assert!(victim.offer().unwrap().stale || victim.status().state == State::Ready);
        assert_answers(&other).await;
        let mut line = peer.accept().await;
        welcome(&mut line).await;
        ready(&victim).await;
        assert!(killed.elapsed() < seconds(5), "{:?}", killed.elapsed());
        let call = begin(&victim, call_of("work", &json!({})));
        let asked = line.expect("tools/call").await;
        line.answer(&asked, text("back")).await;
        call.await.unwrap().unwrap();
        victim.stop().await;
        assert_eq!(line.gone().await, b"");
        other.stop().await;
    });
}

#[test]
fn u02_a_crash_loop_a_missing_program_and_a_hang_hurt_nobody_else() {
    run(async {
        let crashing_peer = process_peer().await;
        let hanging_peer = process_peer().await;
        let quick = limits(Duration::from_millis(300), seconds(60));
        let crashing = legacy("crashing", &crashing_peer, UpstreamOptions::default());
        let hanging = legacy("hanging", &hanging_peer, quick);
        let nowhere = Target::command(["/nonexistent/server", "--token", "s3cret"]).unwrap();
        let missing = upstream("missing", nowhere, UpstreamOptions::default());
        let other = obedient("other").await;
        tokio::spawn(async move {
            loop {
                crashing_peer.accept().await.exit(7).await;
            }
        });
        let mut held = Vec::new();
        tokio::spawn(async move {
            loop {
                held.push(hanging_peer.accept().await);
            }
        });
        until(&crashing, |status| status.failures >= 3 && status.state == State::Lost).await;
        let status = until(&hanging, |status| status.failures >= 2).await;
        assert_eq!(status.last_error.unwrap().text, "no connection within 300ms");
        until(&missing, |status| status.state == State::Failed).await;
        for (upstream, kind) in
            [(&crashing, None), (&hanging, None), (&missing, Some(FaultKind::CannotStart))]
        {
            let began = Instant::now();
            let fault = upstream.call(call_of("work", &json!({}))).outcome().await.unwrap_err();
            assert!(began.elapsed() < seconds(1), "{:?}", began.elapsed());
            let message = fault.message();
            assert!(message.contains(&format!("`{}`", upstream.name())), "{message}");
            assert!(!message.contains("s3cret") && !message.contains('/'), "{message}");
            assert!(kind.is_none_or(|kind| kind == fault.kind()), "{fault}");
            assert_answers(&other).await;
        }
        for upstream in [crashing, hanging, missing, other] {
            upstream.stop().await;
        }
    });
}

#[test]
fn u02_what_only_a_change_can_mend_is_not_tried_in_a_hurry() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("readme");
        std::fs::write(&text, "no program").unwrap();
        let not_a_program = Target::command([text.display().to_string()]).unwrap();
        let mut astray = CommandLine { program: "true".to_owned(), ..CommandLine::default() };
        astray.directory = Some(folder.path().join("nowhere"));
        let mut peer = HttpPeer::start().await;
        let locked = Target::url(&peer.url()).unwrap();
        for target in [not_a_program, Target::Command(astray)] {
            let upstream = upstream("broken", target, UpstreamOptions::default());
            let status = until(&upstream, |status| status.state == State::Failed).await;
            assert_eq!(status.last_error.unwrap().name, "cannot-start");
            assert!(status.next_try_ms.unwrap() > 50_000);
            upstream.stop().await;
        }
        let upstream = upstream("locked", locked, UpstreamOptions::default());
        peer.expect("POST server/discover").await.status(401).await;
        let status = until(&upstream, |status| status.state == State::Failed).await;
        assert_eq!(status.last_error.unwrap().name, "unauthorized");
        upstream.retry();
        peer.expect("POST server/discover").await.status(401).await;
        upstream.stop().await;
    });
}

#[test]
fn u02_stopping_ends_a_process_that_hangs_while_it_connects() {
    run(async {
        let peer = process_peer().await;
        let upstream = legacy("hanging", &peer, UpstreamOptions::default());
        let mut line = peer.accept().await;
        line.expect("initialize").await;
        upstream.stop().await;
        line.gone().await;
    });
}

#[test]
fn u03_a_call_that_is_not_answered_ends_is_cancelled_and_its_late_answer_dropped() {
    run(async {
        let peer = process_peer().await;
        let upstream = legacy("slow", &peer, limits(seconds(30), Duration::from_millis(200)));
        let mut line = peer.accept().await;
        welcome(&mut line).await;
        ready(&upstream).await;
        let call = begin(&upstream, call_of("work", &json!({})));
        let asked = line.expect("tools/call").await;
        let fault = call.await.unwrap().unwrap_err();
        assert_eq!(
            fault.message(),
            "`slow` did not answer `tools/call`: no answer and no progress within 200ms"
        );
        let cancelled = line.expect("notifications/cancelled").await;
        assert_eq!(cancelled.params["requestId"].to_string(), id_of(&asked));
        let next = begin(&upstream, call_of("work", &json!({})));
        let other = line.expect("tools/call").await;
        line.answer(&asked, text("late")).await;
        line.answer(&other, text("mine")).await;
        assert!(next.await.unwrap().unwrap().as_str().contains("mine"));
        upstream.stop().await;
    });
}

#[test]
fn u04_answers_to_wrong_ids_reach_nobody() {
    run(async {
        let peer = process_peer().await;
        let upstream = legacy("confused", &peer, UpstreamOptions::default());
        let mut line = peer.accept().await;
        welcome(&mut line).await;
        ready(&upstream).await;
        let call = begin(&upstream, call_of("work", &json!({})));
        let asked = line.expect("tools/call").await;
        let id = id_of(&asked);
        for wrong in [format!("\"{id}\""), "999".to_owned(), "\"x\"".to_owned(), "1".to_owned()] {
            line.say(format!(r#"{{"jsonrpc":"2.0","id":{wrong},"result":{{"content":[]}}}}"#)).await;
        }
        line.answer(&asked, text("mine")).await;
        line.answer(&asked, text("again")).await;
        assert!(call.await.unwrap().unwrap().as_str().contains("mine"));
        let next = begin(&upstream, call_of("work", &json!({})));
        let asked = line.expect("tools/call").await;
        line.answer(&asked, text("yours")).await;
        assert!(next.await.unwrap().unwrap().as_str().contains("yours"));
        upstream.stop().await;
    });
}

#[test]
fn u05_a_flood_of_changes_is_read_seldom_and_delays_no_call() {
    run(async {
        let peer = process_peer().await;
        let upstream = legacy("loud", &peer, UpstreamOptions::default());
        let mut line = peer.accept().await;
        welcome(&mut line).await;
        ready(&upstream).await;
        let mut flood = String::new();
        for n in 0..20_000 {
            for method in ["tools/list_changed", "message", "resources/updated", "progress"] {
                writeln!(flood, r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{"uri":"a","level":"info","progressToken":"foreign","progress":{n}}}}}"#).unwrap();
            }
        }
        line.write(flood).await;
        let mut lists = 0;
        for _ in 0..20 {
            let call = begin(&upstream, call_of("work", &json!({})));
            let asked = loop {
                let asked = line.message().await;
                if asked.method == "tools/call" {
                    break asked;
                }
                assert_eq!(asked.method, "tools/list");
                lists += 1;
                line.answer(&asked, tools()).await;
            };
            line.answer(&asked, text("through")).await;
            call.await.unwrap().unwrap();
        }
        assert!(lists <= 5, "{lists}");
        upstream.stop().await;
    });
}

#[test]
fn u13_a_forgotten_session_is_begun_anew_and_the_call_repeated_once() {
    run(async {
        let mut peer = HttpPeer::start().await;
        let connect = ConnectOptions { speak: RevisionChoice::Era(Era::Legacy), ..ConnectOptions::default() };
        let upstream = start("web", Target::url(&peer.url()).unwrap(), connect, UpstreamOptions::default());
        crate::faults::begin_session(&mut peer, "session-1").await;
        peer.expect("GET").await.status(405).await;
        peer.expect("POST tools/list").await.result(&tools()).await;
        for list in ["POST resources/list", "POST resources/templates/list"] {
            peer.expect(list).await.result(&json!({"resources": [], "resourceTemplates": []})).await;
        }
        ready(&upstream).await;
        let call = begin(&upstream, call_of("work", &json!({})));
        peer.expect("POST tools/call").await.status(404).await;
        crate::faults::begin_session(&mut peer, "session-2").await;
        // The server did not know the session, so it cannot have run the call.
        let request = peer.expect("POST tools/call").await;
        assert_eq!(request.header("mcp-session-id"), Some("session-2"));
        request.result(&text("fine")).await;
        call.await.unwrap().unwrap();
        assert_eq!(upstream.status().state, State::Ready, "the session is another, the upstream the same");
        let calls = peer.seen().iter().filter(|label| *label == "POST tools/call").count();
        assert_eq!(calls, 2);
    });
}

#[test]
fn u14_a_thousand_callers_of_a_slow_server_do_not_slow_another() {
    run(async {
        let peer = process_peer().await;
        let bulkhead = BulkheadOptions { concurrency: 50, queue: 50, wait: Duration::from_millis(500) };
        let slow = legacy("slow", &peer, UpstreamOptions { bulkhead, ..UpstreamOptions::default() });
        let mut line = peer.accept().await;
        welcome(&mut line).await;
        ready(&slow).await;
        let other = obedient("other").await;
        let calls: Vec<_> = (0..1000).map(|_| begin(&slow, call_of("work", &json!({})))).collect();
        let mut asked = Vec::new();
        for _ in 0..50 {
            asked.push(line.expect("tools/call").await);
        }
        let mut longest = Duration::ZERO;
        for _ in 0..100 {
            let began = Instant::now();
            assert_answers(&other).await;
            longest = longest.max(began.elapsed());
        }
        assert!(longest < seconds(1), "{longest:?}");
        until(&slow, |status| status.calls.waiting == 0).await;
        for asked in &asked {
            line.answer(asked, text("at last")).await;
        }
        let mut answered = 0;
        for call in calls {
            match call.await.unwrap() {
                Ok(_) => answered += 1,
                Err(fault) => {
                    assert_eq!(fault.kind(), FaultKind::Overloaded);
                    assert!(fault.message().starts_with("`slow` is busy"), "{fault}");
                }
            }
        }
        assert_eq!(answered, 50);
        slow.stop().await;
        other.stop().await;
    });
}

/// An in-process handler that answers like a server.
struct Neighbour;

impl Handler for Neighbour {
    fn call(&self, call: Call) -> Reply {
        Reply::ready(Ok(match call.method.as_ref() {
            "server/discover" => json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}),
            "tools/list" => tools(),
            _ => text("from next door"),
        }
        .into()))
    }
}

#[test]
fn a_handler_in_this_process_is_an_upstream_like_any_other() {
    run(async {
        let connect = Arc::new(InProcess(Arc::new(Neighbour)));
        let upstream = Upstream::new("builtin".parse().unwrap(), connect, UpstreamOptions::default());
        upstream.start();
        assert_eq!(ready(&upstream).await.tools.len(), 1);
        let result = upstream.call(call_of("work", &json!({}))).outcome().await.unwrap();
        assert!(result.as_str().contains("next door"));
        upstream.stop().await;
    });
}

#[test]
fn a_legacy_server_hears_of_the_client_that_calls() {
    run(async {
        let peer = process_peer().await;
        let lazy = UpstreamOptions { start: Start::WhenNeeded, ..UpstreamOptions::default() };
        let upstream = legacy("curious", &peer, lazy);
        let params = json!({"name": "work", "_meta": {
            meta::CLIENT_CAPABILITIES: {"elicitation": {"url": {}}, "experimental": {"x": 1}},
            meta::CLIENT_INFO: {"name": "editor", "version": "7", "icons": []},
        }});
        let call = begin(&upstream, Call::new("tools/call", Some(params.into())));
        let mut line = peer.accept().await;
        let asked = line.expect("initialize").await;
        assert_eq!(asked.params["clientInfo"], json!({"name": "editor", "version": "7", "icons": []}));
        assert_eq!(asked.params["capabilities"]["elicitation"], json!({"url": {}}));
        call.abort();
        upstream.stop().await;
    });
}

#[test]
fn u01_an_address_that_goes_away_is_named_and_tried_again() {
    run(async {
        let mut peer = HttpPeer::start().await;
        let target = Target::url(&peer.url()).unwrap();
        let upstream = upstream("web", target, UpstreamOptions::default());
        let discovery = json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}});
        peer.expect("POST server/discover").await.result(&discovery).await;
        peer.expect("POST tools/list").await.result(&tools()).await;
        ready(&upstream).await;
        drop(peer);
        let began = Instant::now();
        let fault = upstream.call(call_of("work", &json!({}))).outcome().await.unwrap_err();
        assert!(began.elapsed() < seconds(2), "{:?}", began.elapsed());
        assert!(fault.message().starts_with("`web` is not available"), "{fault}");
        let status = until(&upstream, |status| status.state == State::Lost && status.failures >= 2).await;
        assert!(status.stale && status.lists[0].items == Some(1), "its last lists are still reported");
        upstream.stop().await;
    });
}
