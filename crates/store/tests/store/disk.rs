//! Faults of the store in a file.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use trunkline_store::{Condition, Embedded, Store, StoreError};

use crate::support::{KEPT, text, write};

#[tokio::test]
async fn data_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Embedded::open(&path).unwrap();
    write(&store, "a", "kept").await;
    store.append("log", "event".into(), KEPT).await.unwrap();
    drop(store);
    let store = reopened(&path);
    assert_eq!(text(&store, "a").await.as_deref(), Some("kept"));
    assert_eq!(store.append("log", "event".into(), KEPT).await.unwrap(), 2);
}

#[tokio::test]
async fn a_file_in_use_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let _store = Embedded::open(&path).unwrap();
    assert!(matches!(Embedded::open(&path), Err(StoreError::InUse(_))));
}

#[test]
fn a_file_of_something_else_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    fs::write(&path, "precious notes".repeat(1000)).unwrap();
    assert!(Embedded::open(&path).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious notes".repeat(1000));
}

/// The child of the next test: prints each number after its write was acknowledged.
#[tokio::test]
#[ignore = "started by the test of kill -9"]
async fn acknowledge_writes() {
    #[expect(clippy::disallowed_methods, reason = "how the parent test passes the path")]
    let Some(path) = std::env::var_os("STORE_FILE") else { return };
    let store = Embedded::open(path.as_ref()).unwrap();
    for n in 0.. {
        write(&store, &format!("k/{n:09}"), "x").await;
        println!("acknowledged {n:09}");
    }
}

#[tokio::test]
async fn no_acknowledged_write_is_lost_by_kill_9() {
    for round in 0..8 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "disk::acknowledge_writes", "--ignored", "--nocapture"])
            .env("STORE_FILE", &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut lines = lines.filter(|line| line.contains("acknowledged"));
        let before: Vec<String> = lines.by_ref().take(1 + round * 7).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        let acknowledged =
            before.len() + lines.filter(|line| line.ends_with(|c: char| c.is_ascii_digit())).count();
        let store = reopened(&path);
        let kept = store.list("k/", "", usize::MAX).await.unwrap().len();
        assert!(kept >= acknowledged, "{acknowledged} were acknowledged, {kept} are there");
        assert!(kept <= acknowledged + 1, "one at most was in flight");
    }
}

/// A full disk, as a limit of the file's size. The limit is of the process, so it has a process of
/// its own.
#[tokio::test]
#[ignore = "started by the test of the full disk"]
async fn fill_the_disk() {
    #[expect(clippy::disallowed_methods, reason = "how the parent test passes the path")]
    let Some(path) = std::env::var_os("STORE_FILE") else { return };
    let store = Embedded::open(path.as_ref()).unwrap();
    write(&store, "before", "kept").await;
    let mut refused = None;
    for n in 0..64 {
        let large = vec![n; 4 << 20];
        if let Err(error) = store.put(&format!("large/{n}"), large.into(), Condition::Always, None).await {
            refused = Some(error);
            break;
        }
    }
    assert!(matches!(refused, Some(StoreError::Full(_))), "{refused:?}");
    assert_eq!(text(&store, "before").await.as_deref(), Some("kept"), "the store works on");
    println!("full and well");
}

#[test]
fn a_full_disk_is_said_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // The limit is in blocks of 1 KiB; SIGXFSZ is ignored so that writes fail with an error.
    let script =
        "trap '' XFSZ; ulimit -f 40000; exec \"$0\" --exact disk::fill_the_disk --ignored --nocapture";
    let output = Command::new("bash")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env("STORE_FILE", folder.path().join("store"))
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("full and well"), "{shown}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// The lock of a store that was just dropped is released when its thread ends.
fn reopened(path: &std::path::Path) -> Embedded {
    loop {
        match Embedded::open(path) {
            Err(StoreError::InUse(_)) => std::thread::yield_now(),
            other => return other.unwrap(),
        }
    }
}
