use super::*;
use crate::audit::{OpenError, ProblemKind};

/// An intact trail of several segments.
async fn trail_of(calls: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let (handler, trail) = audited(dir.path(), Options { segment_bytes: 4000, ..Options::default() });
    for n in 0..calls {
        call(&handler, &format!("t{n}")).await.unwrap();
    }
    drop((handler, trail));
    assert!(verify(dir.path()).unwrap().is_intact());
    assert!(segments(dir.path()).len() >= 3);
    dir
}

/// The problems found after `change` was applied to the lines of one segment.
async fn after(segment: usize, change: impl FnOnce(&mut Vec<String>)) -> Vec<ProblemKind> {
    let dir = trail_of(30).await;
    let path = &segments(dir.path())[segment];
    let mut lines: Vec<String> = fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect();
    change(&mut lines);
    fs::write(path, lines.join("\n") + "\n").unwrap();
    verify(dir.path()).unwrap().problems.into_iter().map(|problem| problem.kind).collect()
}

#[tokio::test]
async fn d06_each_edited_record_is_found() {
    for line in 0..6 {
        let found = after(1, |lines| lines[line] = lines[line].replace("\"time\":\"2", "\"time\":\"3")).await;
        assert_eq!(found, [ProblemKind::Changed], "line {line}");
    }
    let found = after(0, |lines| lines[3].push(' ')).await;
    assert!(matches!(found[..], [ProblemKind::Unreadable, ProblemKind::Order { .. }]), "{found:?}");
}

#[tokio::test]
async fn d06_an_edit_with_a_fresh_hash_is_found_by_the_record_after_it() {
    let found = after(1, |lines| {
        let before = crate::audit::line::Line::read(lines[2].as_bytes()).unwrap().link();
        let old = crate::audit::line::Line::read(lines[3].as_bytes()).unwrap();
        let members = old.members.replace("local", "mallory");
        let (mut link, mut text) = (before, Vec::new());
        link.append(&members, &mut text);
        lines[3] = String::from_utf8(text).unwrap().trim_end().to_owned();
    })
    .await;
    assert_eq!(found, [ProblemKind::Changed]);
}

#[tokio::test]
async fn d06_deleted_reordered_and_repeated_records_are_found() {
    let deleted = after(1, |lines| drop(lines.remove(4))).await;
    assert!(matches!(deleted[..], [ProblemKind::Order { .. }]), "{deleted:?}");
    let swapped = after(1, |lines| lines.swap(3, 4)).await;
    assert!(swapped.iter().all(|kind| matches!(kind, ProblemKind::Order { .. })), "{swapped:?}");
    assert_eq!(swapped.len(), 3);
    let repeated = after(1, |lines| lines.insert(4, lines[3].clone())).await;
    assert!(matches!(repeated[..], [ProblemKind::Order { .. }, ..]), "{repeated:?}");
    let inserted = after(1, |lines| lines.insert(4, "{}".to_owned())).await;
    assert_eq!(inserted, [ProblemKind::Unreadable]);
    let last_of_segment = after(0, |lines| drop(lines.pop())).await;
    assert!(!last_of_segment.is_empty());
    let opening = after(1, |lines| drop(lines.remove(0))).await;
    assert!(!opening.is_empty());
}

#[tokio::test]
async fn d06_a_truncated_trail_is_found_and_not_written_on() {
    let dir = trail_of(30).await;
    let path = segments(dir.path()).pop().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..=text[..text.len() - 1].rfind('\n').unwrap()]).unwrap();
    let report = verify(dir.path()).unwrap();
    assert!(matches!(report.problems[0].kind, ProblemKind::Truncated { .. }), "{report:?}");
    let error = Trail::open(dir.path(), Options::default()).unwrap_err();
    assert!(matches!(error, OpenError::Damaged(..)), "{error}");
    fs::write(&path, "").unwrap();
    assert!(Trail::open(dir.path(), Options::default()).is_err());
    assert!(path.exists(), "what was left of it is still there");
    for left in segments(dir.path()) {
        fs::remove_file(left).unwrap();
    }
    assert!(!verify(dir.path()).unwrap().is_intact());
    assert!(Trail::open(dir.path(), Options::default()).is_err());
}

#[tokio::test]
async fn d06_missing_segments_and_a_missing_head_are_found() {
    for segment in [0, 1] {
        let dir = trail_of(30).await;
        fs::remove_file(&segments(dir.path())[segment]).unwrap();
        let kinds: Vec<_> = verify(dir.path()).unwrap().problems.into_iter().map(|p| p.kind).collect();
        assert!(matches!(kinds[..], [ProblemKind::Missing, ProblemKind::Order { .. }]), "{kinds:?}");
    }
    let dir = trail_of(30).await;
    fs::write(dir.path().join("audit-999999999999.jsonl"), "x\n").unwrap();
    assert_eq!(verify(dir.path()).unwrap().problems.len(), 2, "a forged segment number costs no time");
    fs::remove_file(dir.path().join("audit-999999999999.jsonl")).unwrap();
    fs::remove_file(dir.path().join("head")).unwrap();
    assert_eq!(verify(dir.path()).unwrap().problems[0].kind, ProblemKind::NoHead);
    fs::write(dir.path().join("head"), "0\n").unwrap();
    assert_eq!(verify(dir.path()).unwrap().problems[0].kind, ProblemKind::NoHead);
}

#[tokio::test]
async fn d06_a_failed_disk_cannot_be_pretended_to_hide_records() {
    let found = after(2, |lines| lines[0] = lines[0].replace("\"size\"", "\"failure\"")).await;
    assert_eq!(found, [ProblemKind::Changed]);
}
