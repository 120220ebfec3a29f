//! `trunkline lint` as people and their builds use it.

mod support;

use serde_json::Value;
use support::{Run, scripted, trunkline};

/// The scripted server has one tool with a broken schema, and reads every revision as its own.
#[test]
fn findings_fail_the_run_and_are_shown_with_their_fix() {
    let run = scripted(&["lint", "--rule", "version-negotiation"], &[]);
    assert_eq!(run.code, 1, "{run}");
    for part in ["error version-negotiation", "1999-01-01", "^^^^", "fix If the requested"] {
        assert!(run.stdout.contains(part), "{part}: {run}");
    }
    assert!(!run.stdout.contains('\u{1b}'), "{run}");
}

#[test]
fn a_rule_that_passes_gives_no_finding() {
    let run = scripted(&["validate", "--rule", "ping-result"], &[]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("no findings; 1 passed"), "{run}");
}

#[test]
fn the_level_to_fail_on_is_chosen_by_the_caller() {
    assert_eq!(scripted(&["lint", "--rule", "version-negotiation", "--fail-on", "never"], &[]).code, 0);
    assert_eq!(scripted(&["lint", "--rule", "version-negotiation", "--fail-on", "critical"], &[]).code, 0);
    assert_eq!(scripted(&["lint", "--rule", "cursor-refused", "--fail-on", "info"], &[]).code, 1);
}

#[test]
fn a_passive_run_sends_nothing_odd() {
    let run = scripted(&["lint", "--passive"], &[]);
    assert!(!run.log.contains("trunkline-lint/no-such-method"), "{}", run.log);
    assert!(run.log.contains("tools/list") && !run.log.contains("tools/call"), "{}", run.log);
}

#[test]
fn a_usual_run_calls_no_tool_that_exists() {
    let run = scripted(&["lint", "--group", "tools", "--group", "json-rpc"], &[]);
    let called = run.log.lines().filter(|line| line.contains("tools/call"));
    assert!(called.clone().all(|line| line.contains("trunkline-lint-no-such-tool")), "{}", run.log);
}

#[test]
fn programs_read_json_and_sarif() {
    for (args, pointer) in [
        (vec!["lint", "--json", "--group", "lifecycle"], "/targets/0/rules/0/rule"),
        (vec!["lint", "--format", "sarif", "--group", "lifecycle"], "/runs/0/results/0/ruleId"),
    ] {
        let run = scripted(&args, &[]);
        let report: Value =
            serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"));
        assert!(report.pointer(pointer).is_some_and(Value::is_string), "{run}");
    }
}

#[test]
fn what_a_baseline_knows_does_not_fail() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("baseline.json");
    let file = file.to_str().unwrap();
    let written = scripted(&["lint", "--group", "lifecycle", "--write-baseline", file], &[]);
    assert_eq!(written.code, 1, "{written}");
    let run = Run::of(
        trunkline(&[])
            .args(["lint", "--group", "lifecycle", "--baseline", "/nowhere", "--"])
            .args(support::server()),
        "",
    );
    assert_eq!(run.code, 2, "{run}");
    let mut command = trunkline(&[]);
    command.args(["lint", "--group", "lifecycle", "--baseline", file, "--"]).args(support::server());
    let run = Run::of(&mut command, "");
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("ignored"), "{run}");
}

#[test]
fn an_ignore_needs_a_reason() {
    let without = scripted(&["lint", "--ignore", "version-negotiation"], &[]);
    assert_eq!(without.code, 2, "{without}");
    let with = scripted(
        &["lint", "--rule", "version-negotiation", "--ignore", "version-negotiation=a test server"],
        &[],
    );
    assert_eq!(with.code, 0, "{with}");
}

#[test]
fn rules_explain_themselves_and_unknown_ones_are_told() {
    let run = Run::of(trunkline(&[]).args(["lint", "--explain", "id-echo"]), "");
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("## Why it matters") && run.stdout.contains("## How to fix it"), "{run}");
    let run = Run::of(trunkline(&[]).args(["lint", "--explain", "id-ecko"]), "");
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("did you mean id-echo"), "{run}");
}

#[test]
fn a_server_that_cannot_be_reached_is_no_finding() {
    let run = Run::of(trunkline(&[]).args(["lint", "--", "/nowhere/at-all"]), "");
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stdout.contains("cannot be reached"), "{run}");
}

#[test]
fn our_own_server_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    let served = [env!("CARGO_BIN_EXE_trunkline"), "serve", "--stdio", "--root", root];
    let home = [("HOME", root)];
    let run = Run::of(trunkline(&home).args(["lint", "--fail-on", "error", "--"]).args(served), "");
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("modern and legacy") && run.stdout.contains("passed"), "{run}");
}
