//! P04: leaks after servers were killed repeatedly. File descriptors are counted for the whole
//! process, so this is a separate target.
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what it is made of")]

#[path = "../upstreams/support.rs"]
#[allow(dead_code, reason = "it serves another target, too")]
mod support;

use serde_json::json;
use std::time::Duration;
use support::*;
use tokio::time::Instant;
use trunkline_gateway::upstream::UpstreamOptions;

const RESTARTS: usize = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p04_nothing_is_left_of_servers_that_are_killed_again_and_again() {
    let mark = unique("restarts");
    let upstream = upstream("victim", rmcp(&mark, "both"), UpstreamOptions::default());
    ready(&upstream).await;
    let before = descriptors();
    for round in 0..RESTARTS {
        ready(&upstream).await;
        let call = begin(&upstream, call_of("echo", &json!({"text": "hello"})));
        call.await.unwrap().unwrap();
        let slow = begin(&upstream, call_of("slow", &json!({"steps": 1000, "delay_ms": 1000})));
        until(&upstream, |status| status.calls.in_flight == 1).await;
        let pids = processes(&mark);
        assert_eq!(pids.len(), 1, "one process, however often it was restarted: round {round}");
        let killed = Instant::now();
        kill(pids[0]);
        let fault = slow.await.unwrap().unwrap_err();
        assert!(killed.elapsed() < Duration::from_secs(1), "{:?}", killed.elapsed());
        assert!(fault.message().contains("`victim`"), "{fault}");
        until(&upstream, |status| status.restarts == round as u64 + 1).await;
        ready(&upstream).await;
        assert!(killed.elapsed() < Duration::from_secs(5), "{:?}", killed.elapsed());
    }
    let after = descriptors();
    assert!(after <= before + 2, "{before} descriptors became {after}");
    assert_eq!(zombies(), 0);
    upstream.stop().await;
    gone(&mark).await;
}
