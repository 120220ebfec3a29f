use super::*;
use crate::audit::{Redaction, Tail, tail};

#[tokio::test]
async fn d05_hostile_arguments_make_one_escaped_line_without_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let redaction = Redaction::default().keep(None, "note").keep(None, "token");
    let (handler, trail) = audited(dir.path(), Options { redaction, ..Options::default() });
    let arguments = json!({
        "note": "a\nb\u{1b}[31m\u{202e}\u{85}\u{2028}\u{7f} ghp_0123456789abcdefghij \u{1f600}",
        "token": "hunter2",
        "content": "canary-secret",
        "line\n{\"seq\":1}": 1,
    });
    let mut hostile = tool("x\u{1b}[2J\n{\"seq\":9,", &arguments);
    hostile.caller = Arc::new(trunkline_protocol::Caller::named("eve\r\n"));
    handler.call(hostile).outcome().await.unwrap();
    drop((handler, trail));
    let lines = lines(dir.path());
    assert_eq!(lines.len(), 4, "segment, opened, start, end");
    for line in &lines {
        assert!(line.bytes().all(|b| (b' '..=b'~').contains(&b)), "{line}");
        for secret in ["hunter2", "canary-secret", "ghp_"] {
            assert!(!line.contains(secret), "{line}");
        }
    }
    let records = records(dir.path());
    let start = &records[2];
    assert_eq!(start["values"]["note"], "a\nb\u{1b}[31m\u{202e}\u{85}\u{2028}\u{7f} *** \u{1f600}");
    assert_eq!(start["values"]["token"], "***");
    assert_eq!(start["arguments"]["content"], 15);
    assert_eq!(start["target"], "x\u{1b}[2J\n{\"seq\":9,");
    assert_eq!(start["caller"], "eve\r\n");
}

#[tokio::test]
async fn the_tail_gives_the_last_lines_and_follows_from_segment_to_segment() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { segment_bytes: 1000, ..Options::default() };
    let (handler, trail) = audited(dir.path(), options.clone());
    for n in 0..10 {
        call(&handler, &format!("t{n}")).await.unwrap();
    }
    drop((handler, trail));
    let all = lines(dir.path());
    assert!(segments(dir.path()).len() > 3);
    assert_eq!(tail(dir.path(), 7).unwrap(), all[all.len() - 7..]);
    assert_eq!(tail(dir.path(), 10_000).unwrap(), all);
    let mut follow = Tail::open(dir.path(), 1).unwrap();
    assert_eq!(follow.next().await.unwrap(), all[all.len() - 1]);
    let (handler, trail) = audited(dir.path(), options);
    for n in 10..20 {
        call(&handler, &format!("t{n}")).await.unwrap();
    }
    drop((handler, trail));
    let more = lines(dir.path());
    for want in &more[all.len()..] {
        assert_eq!(&follow.next().await.unwrap(), want);
    }
}
