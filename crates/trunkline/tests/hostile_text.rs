//! Texts of servers, files and arguments cannot control the terminal: every command and format.
#![expect(dead_code, reason = "only a part of the shared support is used here")]

mod support;

use std::{fs, path::PathBuf, process::Command};
use support::{Run, trunkline};

/// Commands against the hostile server, one per line; `-- server` follows.
const COMMANDS: &[&str] = &[
    "list --schema",
    "list --json",
    "list --trace -vv",
    "call ok --log-level debug",
    "call ok --json",
    "call fails --no-check",
    "call fails --no-check --json",
    "call fails",
    "read x:y",
    "read x:y --json",
    "prompt p",
    "prompt nothing",
    "prompt p --json",
    "complete prompt p a x",
    "doctor",
    "doctor --json",
    "lint --all-outcomes",
    "lint --format markdown",
    "lint --format github",
    "lint --format junit",
    "lint --format json",
    "lint --format sarif",
    "lint --json --rule meta-keys",
];

fn server() -> String {
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "hostile_server.py"].iter().collect();
    script.to_string_lossy().into_owned()
}

fn is_json(words: &str) -> bool {
    words.contains("json") || words.contains("sarif")
}

/// Characters that a terminal obeys or hides.
fn harmful(text: &str) -> Vec<char> {
    let bad = |c: &char| {
        c.is_control() && !matches!(c, '\n' | '\t' | '\r')
            || matches!(c, '\u{200b}' | '\u{202e}' | '\u{e0000}'..='\u{e0fff}')
    };
    text.chars().filter(bad).collect()
}

/// The text without our own styles and without the sequences of the progress bar.
fn without_our_own(text: &str) -> String {
    let ours = ["0m", "1m", "2m", "4m", "31m", "32m", "33m", "34m", "35m", "36m", "2K"];
    ours.iter().fold(text.to_owned(), |text, code| text.replace(&format!("\u{1b}[{code}"), ""))
}

fn on_terminal(args: &[&str], server: &[&str]) -> Run {
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "on_terminal.py"].iter().collect();
    let plain = trunkline(&[("TERM", "xterm")]);
    let mut command = Command::new("python3");
    command.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.arg(script).arg("[]").arg(plain.get_program()).args(args).args(server);
    Run::of(&mut command, "")
}

#[test]
fn k03_no_text_of_a_server_reaches_the_terminal_as_it_is() {
    let script = server();
    for words in COMMANDS {
        for manner in ["noisy", "dies"] {
            let args: Vec<&str> = words.split(' ').collect();
            let run = on_terminal(&args, &["--", "python3", &script, manner]);
            let shown = without_our_own(&run.stdout);
            assert!(!shown.trim().is_empty(), "{words} {manner}");
            assert_eq!(harmful(&shown), [], "{words} {manner}: {shown:?}");
        }
    }
}

#[test]
fn k03_reports_and_errors_in_files_are_as_harmless() {
    let script = server();
    for words in COMMANDS {
        let run =
            Run::of(trunkline(&[]).args(words.split(' ')).args(["--", "python3", &script, "noisy"]), "");
        // JSON on standard output is data for programs, and must arrive unchanged.
        let out = if is_json(words) { "" } else { &run.stdout };
        assert_eq!(harmful(out), [], "{words}: {out:?}");
        assert_eq!(harmful(&run.stderr), [], "{words}: {:?}", run.stderr);
    }
}

#[test]
fn k03_escaped_json_has_the_same_value() {
    let script = server();
    let args = ["call", "ok", "--json", "-q"];
    let piped = Run::of(trunkline(&[]).args(args).args(["--", "python3", &script]), "");
    let shown = on_terminal(&args, &["--", "python3", &script]);
    let value = |run: &Run| -> serde_json::Value {
        serde_json::from_str(without_our_own(&run.stdout).trim())
            .unwrap_or_else(|error| panic!("{error}: {run}"))
    };
    assert_eq!(value(&piped), value(&shown));
    assert!(piped.stdout.contains('\u{202e}'), "{piped}");
    let failed =
        Run::of(trunkline(&[]).args(["call", "fails", "--no-check", "--json", "--", "python3", &script]), "");
    let error: serde_json::Value = serde_json::from_str(&failed.stderr).unwrap();
    assert!(error["error"]["message"].as_str().is_some_and(|text| text.contains('\u{202e}')), "{failed}");
}

#[test]
fn k03_names_in_files_and_arguments_are_as_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let bad = "a\u{1b}[2J\u{9b}31m\u{202e}\u{e0041}";
    let servers =
        serde_json::json!({"mcpServers": {bad: {"command": bad, "args": [bad], "env": {bad: bad}}}});
    let file = folder.path().join("mcp.json");
    fs::write(&file, servers.to_string()).unwrap();
    let file = file.to_str().unwrap();
    for format in ["text", "markdown", "github", "junit", "json", "sarif"] {
        let run = on_terminal(&["lint", file, "--format", format], &[]);
        assert_eq!(harmful(&without_our_own(&run.stdout)), [], "{format}: {:?}", run.stdout);
    }
    for args in [&["list", bad][..], &["--json", "list", bad], &[bad], &["list", "--header", bad, "http://h"]]
    {
        let run = on_terminal(args, &[]);
        assert_eq!(harmful(&without_our_own(&run.stdout)), [], "{args:?}: {:?}", run.stdout);
    }
}
