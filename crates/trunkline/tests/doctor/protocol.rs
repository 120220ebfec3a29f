//! The conversation: eras, revisions, lists, calls.

use crate::{
    scripts::{MODERN, SERVER, server_with},
    visit::{Folder, about_script},
};

#[test]
fn an_answer_that_is_no_answer() {
    let odd = about_script(&server_with("initialize", "answer '\"result\":{\"hello\":1}'"));
    odd.names("not-json-rpc", 3, "protocolVersion");
}

#[test]
fn an_answer_with_another_id() {
    let text = r#"printf '{"jsonrpc":"2.0","id":"2","result":{"protocolVersion":"2025-11-25"}}\n'"#;
    let server = server_with("initialize", text).replace("*'\"id\":'*)", "nothing)");
    about_script(&server).names("id-mismatch", 3, "same value and same type");
}

#[test]
fn an_era_that_the_server_does_not_speak() {
    let folder = Folder::new();
    let old = folder.script("old", SERVER);
    let visit = folder.visit(&["--era", "modern", "--", &old], &[]);
    visit.names("legacy-only", 3, "must send `initialize`");
    assert_eq!(visit.works(), ["in the era that it speaks"]);
    let new = folder.script("new", MODERN);
    let visit = folder.visit(&["--era", "legacy", "--", &new], &[]);
    visit.names("modern-only", 3, "2026-07-28");
    assert_eq!(visit.works(), ["in the era that it speaks"]);
}

#[test]
fn a_modern_server_passes() {
    let folder = Folder::new();
    let script = folder.script("server", MODERN);
    let visit = folder.visit(&["--", &script], &[]);
    assert_eq!((visit.code, visit.cause()), (0, "none"), "{:#}", visit.said);
}

#[test]
fn revisions_that_nobody_knows() {
    let visit = about_script(&SERVER.replace("2025-11-25", "2031-01-01"));
    visit.names("revision-not-shared", 3, "published revision");
    assert!(visit.said["problem"]["summary"].as_str().unwrap().contains("2031-01-01"));
    let refused = "answer '\"error\":{\"code\":-32602,\"message\":\"Unsupported protocol version\",\"data\":{\"supported\":[\"2031-01-01\"]}}'";
    about_script(&server_with("initialize", refused)).names("revision-not-shared", 3, "published revision");
}

#[test]
fn an_error_to_the_first_request() {
    let visit = about_script(&server_with(
        "initialize",
        "answer '\"error\":{\"code\":-32603,\"message\":\"no licence\"}'",
    ));
    visit.names("initialize-refused", 3, "server's message");
    assert!(visit.said["problem"]["summary"].as_str().unwrap().contains("no licence"));
}

#[test]
fn a_server_that_dies_at_a_question_it_does_not_know() {
    let visit = about_script(&server_with("server/discover", "exit 1"));
    assert_eq!((visit.code, visit.warnings()), (0, vec!["dies-at-the-question"]), "{:#}", visit.said);
}

#[test]
fn a_list_that_is_declared_and_fails() {
    let visit = about_script(&server_with(
        "tools/list",
        "answer '\"error\":{\"code\":-32603,\"message\":\"database gone\"}'",
    ));
    visit.names("list-fails", 1, "answer `tools/list`");
    assert!(visit.said["problem"]["summary"].as_str().unwrap().contains("database gone"));
}

#[test]
fn a_list_with_entries_that_cannot_be_read() {
    let visit =
        about_script(&server_with("tools/list", "answer '\"result\":{\"tools\":[{\"name\":\"a\"}]}'"));
    visit.names("list-unreadable", 1, "correct the entry");
}

#[test]
fn a_list_that_is_never_answered() {
    let visit = about_script(&server_with("tools/list", ":"));
    visit.names("no-answer", 1, "tools/list");
}

#[test]
fn a_first_call_that_fails() {
    let failed = "answer '\"result\":{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"API key missing\"}]}'";
    let visit = about_script(&server_with("tools/call", failed));
    visit.names("call-fails", 1, "credential");
    assert!(visit.evidence().contains("API key missing"));
    let folder = Folder::new();
    let script = folder.script("server", &server_with("tools/call", failed));
    assert_eq!(folder.visit(&["--no-call", "--", &script], &[]).code, 0);
}

#[test]
fn a_process_that_dies_in_the_middle() {
    let visit = about_script(&server_with("tools/list", "echo 'panic: out of cheese' >&2; exit 1"));
    visit.names("connection-breaks", 1, "tools/list");
    assert!(visit.evidence().contains("out of cheese"));
}
