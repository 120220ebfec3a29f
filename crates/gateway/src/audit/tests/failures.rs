use super::*;
use crate::audit::{
    Durability, OnFailure,
    faults::{Faults, Trouble},
};
use futures_util::FutureExt;
use std::{io::ErrorKind, sync::mpsc, time::Duration};

fn options(faults: &Arc<Faults>) -> Options {
    Options { faults: Arc::clone(faults), ..Options::default() }
}

fn kind(result: Result<Raw, Fault>) -> Option<FaultKind> {
    result.err().map(|fault| fault.kind())
}

#[tokio::test]
async fn d02_one_failed_write_is_made_good_in_a_new_segment() {
    for (error, written) in [
        (ErrorKind::StorageFull, 0),
        (ErrorKind::StorageFull, 100),
        (ErrorKind::Other, 1),
        (ErrorKind::Other, usize::MAX),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let faults = Arc::new(Faults::default());
        let (handler, trail) = audited(dir.path(), options(&faults));
        call(&handler, "before").await.unwrap();
        faults.writes.lock().unwrap().push_back(Trouble { kind: error, written });
        call(&handler, "during").await.unwrap();
        call(&handler, "get-after").await.unwrap();
        let status = trail.status();
        assert_eq!((status.failures, status.failing), (1, None));
        drop((handler, trail));
        assert_eq!(segments(dir.path()).len(), 2);
        let records = records(dir.path());
        let ends: Vec<_> = of_kind(&records, "end").iter().map(|end| end["target"].clone()).collect();
        assert_eq!(ends, ["before", "during", "get-after"]);
        assert_eq!(of_kind(&records, "start").len(), 3);
    }
}

#[tokio::test]
async fn d02_while_nothing_can_be_written_changes_are_refused_and_reads_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Arc::new(Faults::default());
    let (handler, trail) = audited(dir.path(), options(&faults));
    faults.writes.lock().unwrap().push_back(Trouble { kind: ErrorKind::StorageFull, written: 7 });
    *faults.create.lock().unwrap() = Some(ErrorKind::ReadOnlyFilesystem);
    assert_eq!(kind(call(&handler, "write").await), Some(FaultKind::StoreUnavailable));
    assert_eq!(kind(call(&handler, "write").await), Some(FaultKind::StoreUnavailable));
    assert_eq!(kind(call(&handler, "get").await), None);
    assert!(trail.status().failing.is_some());
    // The disk works again: all records since the failure are there.
    *faults.create.lock().unwrap() = None;
    while trail.status().failing.is_some() {
        tokio::task::yield_now().await;
    }
    call(&handler, "write").await.unwrap();
    drop((handler, trail));
    let records = records(dir.path());
    let outcomes: Vec<_> = of_kind(&records, "end").iter().map(|end| end["outcome"].clone()).collect();
    assert_eq!(outcomes[..3], ["refused", "refused", "ok"]);
    assert_eq!(outcomes.last().unwrap(), "ok");
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.unfinished, report.lost), (0, 0));
}

#[tokio::test]
async fn d02_the_policy_decides_about_reads_and_changes() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Arc::new(Faults::default());
    let swapped = Options { mutating: OnFailure::Allow, reading: OnFailure::Refuse, ..options(&faults) };
    let (handler, _trail) = audited(dir.path(), swapped);
    faults.writes.lock().unwrap().push_back(Trouble { kind: ErrorKind::StorageFull, written: 0 });
    *faults.create.lock().unwrap() = Some(ErrorKind::StorageFull);
    assert_eq!(kind(call(&handler, "write").await), None);
    assert_eq!(kind(call(&handler, "get").await), Some(FaultKind::StoreUnavailable));
}

#[tokio::test]
async fn d02_what_is_owed_to_a_failing_disk_is_bounded_and_what_is_lost_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Arc::new(Faults::default());
    let (handler, trail) = audited(dir.path(), options(&faults));
    faults.writes.lock().unwrap().push_back(Trouble { kind: ErrorKind::StorageFull, written: 0 });
    *faults.create.lock().unwrap() = Some(ErrorKind::StorageFull);
    let calls = 15_000;
    for _ in 0..calls {
        call(&handler, "write").await.unwrap_err();
    }
    *faults.create.lock().unwrap() = None;
    while trail.status().failing.is_some() {
        tokio::task::yield_now().await;
    }
    call(&handler, "write").await.unwrap();
    drop((handler, trail));
    let report = verify(dir.path()).unwrap();
    assert!(report.is_intact(), "{report:?}");
    assert!(report.lost > 0, "{report:?}");
    assert!(report.records + report.lost > 2 * calls, "{report:?}");
}

#[tokio::test]
async fn d03_a_failed_sync_poisons_the_segment_and_nothing_before_it_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Arc::new(Faults::default());
    let (handler, trail) = audited(dir.path(), options(&faults));
    // Written and answered, but not synced yet.
    call(&handler, "get-1").await.unwrap();
    call(&handler, "get-2").await.unwrap();
    faults.syncs.lock().unwrap().push_back(Trouble { kind: ErrorKind::Other, written: 0 });
    call(&handler, "write").await.unwrap();
    assert_eq!(trail.status().failures, 1);
    drop((handler, trail));
    let paths = segments(dir.path());
    assert_eq!(paths.len(), 2, "the poisoned segment is not written to again");
    let second = fs::read_to_string(&paths[1]).unwrap();
    for tool in ["get-1", "get-2", "write"] {
        assert_eq!(second.matches(&format!("\"target\":\"{tool}\"")).count(), 2, "{tool}");
    }
    assert_eq!(of_kind(&records(dir.path()), "end").len(), 3);
}

#[tokio::test]
async fn d03_a_sync_that_keeps_failing_refuses_changes() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Arc::new(Faults::default());
    let (handler, trail) = audited(dir.path(), options(&faults));
    let trouble = Trouble { kind: ErrorKind::Other, written: 0 };
    faults.syncs.lock().unwrap().extend([trouble; 2]);
    assert_eq!(kind(call(&handler, "write").await), Some(FaultKind::StoreUnavailable));
    drop((handler, trail));
    assert_eq!(verify(dir.path()).unwrap().unfinished, 0);
    let records = records(dir.path());
    assert_eq!(of_kind(&records, "end")[0]["outcome"], "refused");
}

#[tokio::test]
async fn d08_a_slow_disk_makes_callers_wait_in_bounded_memory() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Arc::new(Faults::default());
    let slow = Options { calls: 10, patience: Duration::from_mins(10), ..options(&faults) };
    let (handler, trail) = audited(dir.path(), slow);
    let (leave, stopped) = mpsc::channel();
    *faults.slow.lock().unwrap() = Some(stopped);
    let handler = Arc::new(handler);
    let calls: Vec<_> = (0..200)
        .map(|n| {
            let handler = Arc::clone(&handler);
            tokio::spawn(async move { call(&handler, &format!("t{n}")).await.is_ok() })
        })
        .collect();
    // After this all calls were polled, and those with a slot have queued their start record; none
    // runs before its record is on disk.
    for _ in 0..2000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(trail.journal().free_slots(), 0);
    assert!(trail.journal().len() <= 20, "{}", trail.journal().len());
    assert!(calls.iter().all(|call| !call.is_finished()));
    // Group commit: far fewer syncs than calls.
    for _ in 0..1000 {
        leave.send(()).unwrap();
    }
    for call in calls {
        assert!(call.await.unwrap());
    }
    *faults.slow.lock().unwrap() = None;
    drop((handler, trail));
    assert_eq!(of_kind(&records(dir.path()), "end").len(), 200);
}

#[tokio::test(start_paused = true)]
async fn d08_who_waits_too_long_for_a_stuck_disk_is_refused_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Arc::new(Faults::default());
    let (handler, trail) = audited(dir.path(), Options { calls: 1, ..options(&faults) });
    let (leave, stopped) = mpsc::channel();
    *faults.slow.lock().unwrap() = Some(stopped);
    assert_eq!(kind(call(&handler, "write").await), Some(FaultKind::StoreUnavailable));
    // Simulated time does not wait for the writer thread, so the test does.
    while trail.journal().free_slots() == 0 {
        tokio::task::yield_now().await;
    }
    // Records are written while a sync hangs.
    assert_eq!(kind(call(&handler, "get").await), None);
    let mut endless = Box::pin(call(&handler, "get-never"));
    assert!((&mut endless).now_or_never().is_none());
    assert_eq!(kind(call(&handler, "get").await), Some(FaultKind::Overloaded));
    drop(endless);
    for _ in 0..100 {
        leave.send(()).unwrap();
    }
    drop((handler, trail));
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.is_intact(), report.lost, report.unfinished), (true, 1, 0), "{report:?}");
}

#[tokio::test]
async fn reads_wait_for_no_sync_and_in_batch_mode_nothing_does() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Arc::new(Faults::default());
    let batch =
        Options { durability: Durability::Batch { interval: Duration::from_hours(1) }, ..options(&faults) };
    for (options, tool) in [(options(&faults), "get"), (batch, "write")] {
        let (handler, trail) = audited(dir.path(), options);
        let (leave, stopped) = mpsc::channel();
        *faults.slow.lock().unwrap() = Some(stopped);
        // A sync would block for ever.
        call(&handler, tool).await.unwrap();
        drop(leave);
        *faults.slow.lock().unwrap() = None;
        drop((handler, trail));
    }
    assert!(verify(dir.path()).unwrap().is_intact());
}
