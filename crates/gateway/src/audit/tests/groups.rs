use super::*;
use crate::audit::Durability;
use std::{collections::BTreeSet, thread, time::Duration};

/// No sync happens during the test.
fn options() -> Options {
    Options { durability: Durability::Batch { interval: Duration::from_hours(1) }, ..Options::default() }
}

/// The targets of the start records.
fn started(dir: &Path) -> Vec<String> {
    let starts = lines(dir).into_iter().map(|line| serde_json::from_str::<Value>(&line).unwrap());
    starts.filter(|record| record["kind"] == "start").map(|record| record["target"].to_string()).collect()
}

#[tokio::test]
async fn records_of_calls_that_come_together_are_written_together() {
    let dir = tempfile::tempdir().unwrap();
    let (handler, trail) = audited(dir.path(), options());
    let mut first = handler.call(tool("first", &json!({})));
    assert!(poll_once(&mut first).is_pending(), "the pace has not seen a lone caller yet");
    assert!(started(dir.path()).is_empty());
    call(&handler, "second").await.unwrap();
    assert_eq!(started(dir.path()), [r#""first""#, r#""second""#]);
    first.outcome().await.unwrap();
    drop((handler, trail));
    assert_eq!(of_kind(&records(dir.path()), "end").len(), 2);
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_it_waits_for_others_leaves_its_record() {
    let dir = tempfile::tempdir().unwrap();
    let (handler, _trail) = audited(dir.path(), options());
    let mut first = handler.call(tool("first", &json!({})));
    assert!(poll_once(&mut first).is_pending());
    drop(first);
    assert_eq!(started(dir.path()), [r#""first""#]);
    assert_eq!(lines(dir.path()).iter().filter(|line| line.contains(r#""outcome":"cancelled""#)).count(), 1);
}

#[tokio::test]
async fn a_lone_call_waits_for_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let (handler, _trail) = audited(dir.path(), options());
    let mut at_once = 0;
    for number in 0..100 {
        let mut reply = handler.call(tool(&format!("t{number}"), &json!({})));
        match poll_once(&mut reply) {
            Poll::Ready(_) => at_once += 1,
            Poll::Pending => drop(reply.outcome().await.unwrap()),
        }
    }
    // A call has two records. Ten of the 200 come after a yield: the pace tries one after 0, 1, 3,
    // 7 and 15 others, then after every 31.
    assert_eq!(at_once, 90);
}

#[test]
fn d01_callers_on_many_runtimes_of_one_thread_each_leave_their_pairs() {
    let dir = tempfile::tempdir().unwrap();
    let (handler, trail) = audited(dir.path(), Options { segment_bytes: 64 * 1024, ..options() });
    let caller = |name: String| {
        let handler = &handler;
        async move {
            for number in 0..50 {
                call(handler, &format!("{name}-{number}")).await.unwrap();
            }
        }
    };
    thread::scope(|scope| {
        for lane in 0..4 {
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                // One thread has a single caller, which often finds the writer locked by the
                // others.
                let callers = if lane == 0 { 1 } else { 8 };
                let callers = (0..callers).map(|number| caller(format!("t{lane}-{number}")));
                runtime.block_on(futures_util::future::join_all(callers));
            });
        }
    });
    drop((handler, trail));
    let records = records(dir.path());
    for kind in ["start", "end"] {
        let targets: BTreeSet<_> = of_kind(&records, kind).iter().map(|r| r["target"].to_string()).collect();
        assert_eq!((of_kind(&records, kind).len(), targets.len()), (1250, 1250), "{kind}");
    }
    assert!(segments(dir.path()).len() > 4);
}
