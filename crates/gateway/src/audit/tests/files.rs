use super::*;
use crate::audit::OpenError;
use std::{
    io::Write,
    os::unix::fs::{PermissionsExt, symlink},
};

fn options() -> Options {
    Options { segment_bytes: 3000, ..Options::default() }
}

#[tokio::test]
async fn d04_rotation_carries_the_chain_over_and_everything_is_private() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new").join("trail");
    let (handler, trail) = audited(&path, options());
    for n in 0..40 {
        call(&handler, &format!("t{n}")).await.unwrap();
    }
    drop((handler, trail));
    assert!(segments(&path).len() > 5);
    let records = records(&path);
    assert_eq!(of_kind(&records, "end").len(), 40);
    assert!(records.iter().zip(1_u64..).all(|(record, n)| record["seq"] == n));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    for entry in fs::read_dir(&path).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
    }
}

#[tokio::test]
async fn d04_a_second_process_is_locked_out_until_the_first_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let first = Trail::open(dir.path(), options()).unwrap();
    let error = Trail::open(dir.path(), options()).unwrap_err();
    assert!(matches!(error, OpenError::Locked(_)), "{error}");
    drop(first);
    drop(Trail::open(dir.path(), options()).unwrap());
    assert_eq!(of_kind(&records(dir.path()), "opened").len(), 2);
}

#[tokio::test]
async fn d04_a_segment_that_is_renamed_or_deleted_does_not_take_later_records_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let (handler, trail) = audited(dir.path(), Options::default());
    call(&handler, "first").await.unwrap();
    let moved = dir.path().join("moved");
    fs::rename(&segments(dir.path())[0], &moved).unwrap();
    call(&handler, "second").await.unwrap();
    fs::remove_file(&segments(dir.path())[0]).unwrap();
    call(&handler, "third").await.unwrap();
    assert_eq!(trail.status().failures, 2);
    drop((handler, trail));
    let text = fs::read_to_string(&segments(dir.path())[0]).unwrap();
    assert!(text.contains("third"));
    assert!(!verify(dir.path()).unwrap().is_intact(), "verify reports it");
    assert!(fs::read_to_string(moved).unwrap().contains("first"));
}

#[tokio::test]
async fn d04_planted_links_are_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let path = dir.path().join("trail");
    fs::create_dir(&path).unwrap();
    for name in ["lock", "head", "audit-000001.jsonl"] {
        symlink(&victim, path.join(name)).unwrap();
        assert!(Trail::open(&path, options()).is_err(), "{name}");
        fs::remove_file(path.join(name)).unwrap();
    }
    // With the name of the next segment.
    let (handler, trail) = audited(&path, options());
    symlink(&victim, path.join("audit-000002.jsonl")).unwrap();
    for n in 0..10 {
        call(&handler, &format!("t{n}")).await.unwrap();
    }
    drop((handler, trail));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    let report = verify(&path).unwrap();
    assert_eq!(report.problems.len(), 1, "the link is found, and no record is missing: {report:?}");
    assert_eq!(report.unfinished, 0);
    fs::remove_file(path.join("audit-000002.jsonl")).unwrap();
    let linked = dir.path().join("linked");
    symlink(&path, &linked).unwrap();
    assert!(Trail::open(&linked, options()).is_err());
}

#[tokio::test]
async fn d01_a_torn_end_is_cut_off_and_only_in_the_last_segment() {
    let dir = tempfile::tempdir().unwrap();
    let (handler, trail) = audited(dir.path(), options());
    for n in 0..20 {
        call(&handler, &format!("t{n}")).await.unwrap();
    }
    drop((handler, trail));
    let whole = lines(dir.path()).len();
    let tear = |at: usize| {
        let path = &segments(dir.path())[at];
        fs::OpenOptions::new().append(true).open(path).unwrap().write_all(b"{\"seq\":99,\"ki").unwrap();
    };
    tear(segments(dir.path()).len() - 1);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.is_intact(), report.torn), (true, 13));
    // A segment that was created but has no record.
    let next = segments(dir.path()).len() + 1;
    fs::write(dir.path().join(format!("audit-{next:06}.jsonl")), "{\"se").unwrap();
    drop(Trail::open(dir.path(), options()).unwrap());
    let records = records(dir.path());
    assert_eq!(records[whole]["dropped"], 17);
    assert_eq!(records.len(), whole + 1);
    tear(0);
    assert!(!verify(dir.path()).unwrap().is_intact());
}

#[tokio::test]
async fn p01_a_call_that_was_under_way_for_several_segments_gets_its_end_from_who_goes_on() {
    let (dir, left) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (handler, _trail) = audited(dir.path(), Options { segment_bytes: 1024, ..Options::default() });
    let mut long = handler.call(tool("never", &json!({})));
    let mut other = 0;
    while segments(dir.path()).len() < 5 {
        assert!(poll_once(&mut long).is_pending());
        call(&handler, &format!("other-{other}")).await.unwrap();
        other += 1;
    }
    // The files that a process killed now would leave.
    for entry in fs::read_dir(dir.path()).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), left.path().join(entry.file_name())).unwrap();
    }
    drop(audited(left.path(), Options::default()));
    let records = records(left.path());
    let ends = of_kind(&records, "end").into_iter().filter(|end| end["target"] == "never");
    assert_eq!(ends.map(|end| end["outcome"].as_str()).collect::<Vec<_>>(), [Some("unknown")]);
}
