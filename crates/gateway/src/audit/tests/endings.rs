use super::*;
use crate::{
    audit::Durability,
    limit::{Limited, Limits, Quota, Rates},
};
use futures_util::FutureExt;
use std::{collections::BTreeSet, time::Duration};

#[tokio::test]
async fn d09_every_way_a_call_ends_leaves_exactly_one_pair() {
    let dir = tempfile::tempdir().unwrap();
    let (handler, trail) = audited(dir.path(), Options::default());
    let ways = ["ok", "denied", "invalid", "limited", "timed_out", "failed", "tool_error", "chatty"];
    for way in ways {
        drop(call(&handler, way).await);
    }
    // Cancelled: while it runs, and while its start record waits for the disk.
    let mut running = handler.call(tool("never", &json!({})));
    assert!(tokio::time::timeout(Duration::from_millis(50), running.next()).await.is_err());
    drop(running);
    let mut waiting = handler.call(tool("never", &json!({})));
    assert!(waiting.next().now_or_never().is_none());
    drop(waiting);
    // Never polled, so never started and not recorded.
    drop(handler.call(tool("unpolled", &json!({}))));
    let handler = Arc::new(handler);
    let panicking = Arc::clone(&handler);
    let panicked = tokio::spawn(async move { call(&panicking, "panicked").await }).await;
    assert!(panicked.unwrap_err().is_panic());
    drop((handler, trail));

    let records = records(dir.path());
    let (starts, ends) = (of_kind(&records, "start"), of_kind(&records, "end"));
    assert_eq!((starts.len(), ends.len()), (ways.len() + 3, ways.len() + 3));
    for start in starts {
        let own: Vec<_> = ends.iter().filter(|end| end["call"] == start["call"]).collect();
        assert_eq!(own.len(), 1);
        let want = match start["target"].as_str().unwrap() {
            "never" => "cancelled",
            "chatty" => "ok",
            other => other,
        };
        assert_eq!(own[0]["outcome"], want);
        assert!(own[0]["seq"].as_u64() > start["seq"].as_u64());
        assert_eq!((&own[0]["caller"], &own[0]["target"]), (&start["caller"], &start["target"]));
    }
    assert_eq!(verify(dir.path()).unwrap().unfinished, 0);
}

#[tokio::test]
async fn d09_a_limit_behind_the_trail_is_recorded_with_its_code() {
    let dir = tempfile::tempdir().unwrap();
    let trail = Trail::open(dir.path(), Options::default()).unwrap();
    let quota = Quota::new(1.try_into().unwrap(), Duration::from_hours(1));
    let limited =
        Limited::new(FakeHandler, Rates::new(&Limits { per_caller: Some(quota), ..Limits::default() }));
    let handler = Audited::new(limited, trail.clone(), Arc::new(|_, _| false));
    handler.call(Call::new(method::PING, None)).outcome().await.unwrap();
    handler.call(Call::new(method::TOOLS_LIST, None)).outcome().await.unwrap();
    let fault = handler.call(tool("x", &json!({}))).outcome().await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::RateLimited);
    trail.event("auth", "10.0.0.1", "Bearer sesame was refused");
    drop((handler, trail));
    let records = records(dir.path());
    let ends = of_kind(&records, "end");
    assert_eq!(ends.len(), 2, "pings are not recorded");
    assert_eq!((&ends[1]["outcome"], &ends[1]["code"]), (&json!("limited"), &json!("E213")));
    assert_eq!(of_kind(&records, "event")[0]["detail"], "Bearer *** was refused");
    let starts = of_kind(&records, "start");
    assert_eq!((&starts[0]["effect"], &starts[1]["effect"]), (&json!("reads"), &json!("may-change")));
}

#[tokio::test]
async fn d01_what_a_server_asks_of_its_own_handler_is_no_call_of_anybody() {
    let dir = tempfile::tempdir().unwrap();
    let (handler, trail) = audited(dir.path(), Options::default());
    let mut own = tool("never", &json!({}));
    own.caller = trunkline_protocol::Caller::ourselves();
    let mut listening = handler.call(own);
    assert!(futures_util::FutureExt::now_or_never(listening.next()).is_none());
    // Clients choose their names freely.
    let mut client = tool("get", &json!({}));
    client.caller = Arc::new(trunkline_protocol::Caller::clone(&trunkline_protocol::Caller::ourselves()));
    handler.call(client).outcome().await.unwrap();
    drop((listening, handler, trail));
    let records = records(dir.path());
    assert_eq!((of_kind(&records, "start").len(), of_kind(&records, "end").len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn d01_many_callers_at_once_each_leave_their_pair_whoever_does_the_writing() {
    let dir = tempfile::tempdir().unwrap();
    // Small enough that syncs and new segments happen all the time.
    let options = Options {
        durability: Durability::Batch { interval: Duration::from_millis(1) },
        segment_bytes: 64 * 1024,
        calls: 16,
        ..Options::default()
    };
    let (handler, trail) = audited(dir.path(), options);
    let handler = Arc::new(handler);
    let callers: Vec<_> = (0..32)
        .map(|caller| {
            let handler = Arc::clone(&handler);
            tokio::spawn(async move {
                for number in 0..100 {
                    call(&handler, &format!("t{caller}-{number}")).await.unwrap();
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    drop((handler, trail));
    let records = records(dir.path());
    for kind in ["start", "end"] {
        let targets: BTreeSet<_> = of_kind(&records, kind).iter().map(|r| r["target"].to_string()).collect();
        assert_eq!((of_kind(&records, kind).len(), targets.len()), (3200, 3200), "{kind}");
    }
    assert!(segments(dir.path()).len() > 4);
}
