//! Many children leak nothing. Alone in its binary, because it counts descriptors of the whole
//! process.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a helper of a test may stop at the first surprise")]

mod child_support;

use std::fs;

use child_support::{Child, LONG, line, sh, start, until_gone};
use trunkline_process::{Departure, Ending, GracePeriods};

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Pids of the children of this process, including zombies.
fn children() -> Vec<String> {
    let mut all = Vec::new();
    for task in fs::read_dir("/proc/self/task").unwrap() {
        let list = fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default();
        all.extend(list.split_whitespace().map(str::to_owned));
    }
    all
}

/// Closes its stdin first.
async fn shutdown(child: Child, patience: GracePeriods) -> Departure {
    child.process.shutdown(patience, async { drop(child.stdin) }).await
}

async fn one_round() {
    let (child, mut reader) = start(&sh("echo up; read -r x"));
    assert_eq!(line(&mut reader).await.unwrap(), "up");
    let departure = shutdown(child, GracePeriods { eof: LONG, term: LONG }).await;
    assert!(matches!(departure.ending, Ending::Code(_)));
}

async fn one_dropped_round() {
    let (child, mut reader) = start(&sh("echo up; sleep 1000"));
    assert_eq!(line(&mut reader).await.unwrap(), "up");
    let leader = child.id();
    drop(child);
    until_gone(leader).await;
}

#[tokio::test]
async fn two_hundred_children_leave_no_descriptor_and_no_zombie() {
    // The first round starts the watchdog and the signal listener, which stay.
    one_round().await;
    let (descriptors_before, children_before) = (descriptors(), children());
    assert_eq!(children_before.len(), 1, "only the watchdog: {children_before:?}");
    for _ in 0..100 {
        one_round().await;
        one_dropped_round().await;
    }
    let settled = async {
        while descriptors() != descriptors_before || children() != children_before {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    let settled = tokio::time::timeout(LONG, settled).await.is_ok();
    assert!(settled, "{descriptors_before} -> {} descriptors, children {:?}", descriptors(), children());
}
