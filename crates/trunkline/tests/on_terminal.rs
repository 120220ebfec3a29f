//! The real binary on a terminal: questions of the server, the progress bar, Ctrl-C at the
//! keyboard.
#![expect(dead_code, reason = "only a part of the shared support is used here")]

mod support;

use std::{path::PathBuf, process::Command};
use support::Run;

/// Runs `args` against the scripted server. Each of `pairs` is a text to wait for, and the input
/// to type then.
fn typed(args: &[&str], pairs: &[(&str, &str)]) -> Run {
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "on_terminal.py"].iter().collect();
    let pairs = serde_json::to_string(pairs).expect("texts are JSON");
    let plain = support::trunkline(&[("TERM", "xterm")]);
    let mut command = Command::new("python3");
    command.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.arg(script).arg(pairs).arg(plain.get_program()).args(args).arg("--").args(support::server());
    Run::of(&mut command, "")
}

#[test]
fn a_found_configuration_is_shown_and_approved_at_the_keyboard() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("trunkline.json");
    std::fs::write(&file, r#"{"mcp": {"servers": {"a": {"command": ["run"]}}}}"#).expect("it can be written");
    let answered = |answer: &str| {
        let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "on_terminal.py"].iter().collect();
        let home = folder.path().to_string_lossy();
        let plain = support::trunkline(&[("TERM", "xterm"), ("HOME", &home)]);
        let pairs = serde_json::json!([["approve this file as it is now? [y/N]", answer]]).to_string();
        let mut command = Command::new("python3");
        command.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.arg(script).arg(pairs).arg(plain.get_program()).args(["config", "approve"]);
        Run::of(command.current_dir(folder.path()), "")
    };
    let refused = answered("\n");
    assert!(refused.stdout.contains("not approved") && refused.stdout.contains("run"), "{refused}");
    let agreed = answered("y\n");
    assert_eq!(agreed.code, 0, "{agreed}");
    assert!(
        agreed.stdout.trim_end().ends_with("approved") && !agreed.stdout.contains("not approved"),
        "{agreed}"
    );
}

#[test]
fn a_form_is_asked_field_by_field() {
    let pairs = [
        ("name (text):", "Ada\n"),
        ("age (whole number from 18):", "7\n"),
        ("this is wanted: number from 18", ""),
        ("age (whole number from 18):", "36\n"),
        ("color (text, optional) [\"red\"]:", "\n"),
        ("Send these answers? [Y/n]", "\n"),
    ];
    let run = typed(&["call", "ask", "--color", "never"], &pairs);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("\r\u{1b}[2KThe server asks: Who are you?\r\n"), "{run}");
    assert!(
        run.stdout.contains(r#"{"action": "accept", "content": {"name": "Ada", "age": 36, "color": "red"}}"#),
        "{run}"
    );
}

#[test]
fn a_form_can_be_declined() {
    let run = typed(&["call", "ask"], &[("name (text):", ":decline\n")]);
    assert!(run.stdout.contains(r#"{"action": "decline"}"#), "{run}");
}

#[test]
fn control_c_at_a_question_ends_it_all() {
    let run = typed(&["call", "ask"], &[("name (text):", "\u{3}")]);
    assert_eq!(run.code, 130, "{run}");
}

/// Without a key that ends the line, which a blocked read of the terminal would wait for.
#[test]
fn control_c_ends_a_server_on_standard_input_which_said_what_it_is_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let home = folder.path().to_string_lossy();
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "on_terminal.py"].iter().collect();
    let server = support::server();
    for args in [&["serve", "--stdio", "--no-audit"][..], &["bridge", "--", &server[0], &server[1]]] {
        let plain = support::trunkline(&[("TERM", "xterm"), ("HOME", &home)]);
        let pairs = serde_json::json!([["press Ctrl-C to end", "\u{3}"]]).to_string();
        let mut command = Command::new("python3");
        command.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.arg(&script).arg(pairs).arg(plain.get_program()).args(args);
        let run = Run::of(command.current_dir(folder.path()), "");
        assert_eq!(run.code, 0, "{args:?}: {run}");
        assert!(run.stdout.contains("expects the messages of an MCP client"), "{run}");
    }
}

#[test]
fn progress_draws_a_bar_and_takes_it_away() {
    let run = typed(&["call", "count"], &[]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("calling count"), "{run}");
    let last = run.stdout.lines().last().unwrap_or_default();
    assert!(last.ends_with("counted"), "{run}");
}

#[test]
fn json_is_laid_out_for_reading() {
    let run = typed(&["call", "echo", "message=x", "--json", "-q"], &[]);
    assert_eq!(run.stdout.lines().next(), Some("{"), "{run}");
    assert!(run.stdout.contains("\r\n      \"text\": \"x\"\r\n"), "{run}");
}
