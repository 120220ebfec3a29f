//! `trunkline lint` as used by hand and in CI.

mod support;

use serde_json::Value;
use std::{collections::BTreeMap, fs, process::Command};
use support::{Run, scripted, server, trunkline};

/// The scripted server has one tool with a broken schema, and accepts every revision.
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

/// A folder with a configuration of two servers: the scripted one, and one that does not exist.
fn configured() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = serde_json::json!({"mcp": {"servers": {
        "scripted": {"command": support::server()},
        "gone": {"command": ["/nowhere/at-all"]},
    }}});
    fs::write(folder.path().join("servers.json"), format!("// two servers\n{text}\n"))
        .expect("a file can be written");
    folder
}

fn at_home(folder: &tempfile::TempDir) -> Command {
    let mut command = trunkline(&[]);
    command.env("HOME", folder.path()).current_dir(folder.path());
    command
}

#[test]
fn all_servers_of_the_configuration_are_judged_with_a_report_for_each() {
    let folder = configured();
    let args = ["lint", "--all", "--config", "servers.json", "--rule", "version-negotiation"];
    let run = Run::of(at_home(&folder).args(args), "");
    assert_eq!(run.code, 3, "{run}");
    let (reports, summary) = run.stdout.split_once("summary\n").unwrap_or_else(|| panic!("{run}"));
    for part in ["servers.json", "error version-negotiation", "cannot be reached"] {
        assert!(reports.contains(part), "{part}: {run}");
    }
    let line =
        |name: &str| summary.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
    assert!(line("scripted").ends_with("1 error"), "{run}");
    assert!(line("gone").ends_with("1 not reached"), "{run}");
    let none = Run::of(at_home(&folder).args(["lint", "--all"]), "");
    assert_eq!(none.code, 2, "{none}");
    assert!(none.stderr.contains("no server is configured"), "{none}");
}

#[test]
fn all_servers_of_a_valid_configuration_without_faults_end_with_0() {
    let folder = tempfile::tempdir().unwrap();
    let (root, home) = (folder.path().join("root"), folder.path().join("empty"));
    let file = folder.path().join(".config/trunkline/trunkline.json");
    for path in [&root, &home, &file.parent().unwrap().to_owned()] {
        fs::create_dir_all(path).unwrap();
    }
    let own = |name: &str| {
        serde_json::json!({
            "command": [env!("CARGO_BIN_EXE_trunkline"), "serve", "--stdio", "--no-audit", "--root", root],
            "environment": {"HOME": home},
            "enabled": name != "disabled",
        })
    };
    let servers = serde_json::json!({"own": own("own"), "disabled": own("disabled")});
    fs::write(&file, serde_json::json!({"mcp": {"servers": servers}}).to_string()).unwrap();
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let run = Run::of(at_home(&folder).args(["lint", "--all"]), "");
    assert_eq!(run.code, 0, "{run}");
    let (_, summary) = run.stdout.split_once("summary\n").unwrap_or_else(|| panic!("{run}"));
    assert!(summary.contains("  own ") && !summary.contains("error"), "{run}");
}

#[test]
fn a_configuration_file_may_have_comments() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.jsonc");
    let text = r#"{
  // what a token must not do: stand here
  "servers": {"github": {"command": "npx", "args": ["-y", "server-github"], "env": {"GITHUB_TOKEN": "ghp_0123456789abcdefghij0123456789abcdef"}},},
}"#;
    fs::write(&file, text).unwrap();
    let run = Run::of(trunkline(&[]).args(["lint", "--group", "config"]).arg(&file), "");
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stdout.contains("config-secrets") && run.stdout.contains("server github"), "{run}");
}

#[test]
fn a_lock_file_pins_the_tools_of_servers() {
    let folder = configured();
    let text = fs::read_to_string(folder.path().join("servers.json")).unwrap();
    // A found file would need approval, so use the user's own file.
    let user = folder.path().join(".config/trunkline");
    fs::create_dir_all(&user).unwrap();
    fs::write(user.join("trunkline.json"), text).unwrap();
    let lint = |args: &[&str]| {
        Run::of(
            at_home(&folder)
                .args(["lint", "--rule", "locked-definitions", "--fail-on", "warning"])
                .args(args),
            "",
        )
    };
    let written = lint(&["scripted", "--write-lock", "trunkline.lock"]);
    assert_eq!(written.code, 0, "{written}");
    let same = lint(&["scripted", "--lock", "trunkline.lock"]);
    assert_eq!(same.code, 0, "{same}");
    assert!(same.stdout.contains("1 passed"), "{same}");
    let file = folder.path().join("trunkline.lock");
    let mut lock: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let tools = lock["servers"]["scripted"]["tools"].as_object_mut().unwrap();
    let (_, tool) = tools.iter_mut().next().unwrap();
    tool["description"] = "What somebody accepted.".into();
    // With hashes, a file that was edited by hand is refused.
    lock["servers"]["scripted"].as_object_mut().unwrap().remove("hashes").unwrap();
    fs::write(&file, lock.to_string()).unwrap();
    let changed = lint(&["trunkline.lock"]);
    assert_eq!(changed.code, 1, "{changed}");
    assert!(changed.stdout.contains("`description` differs from what trunkline.lock accepts"), "{changed}");
}

#[test]
fn our_own_configuration_has_no_faults_and_fixes_are_in_the_syntax_of_the_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, value: Value| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder can be made");
        fs::write(&path, value.to_string()).expect("a file can be written");
        path.to_str().expect("a path is text").to_owned()
    };
    let lint = |args: &[&str]| Run::of(trunkline(&[("HOME", "/nowhere")]).arg("lint").args(args), "");
    let fine = write(
        "trunkline.json",
        serde_json::json!({"mcp": {"servers": {
            "program": {"command": ["sh", "server.sh"], "environment": {"API_KEY": "{env:API_KEY}"}},
            "address": {"url": "https://example.org/mcp"},
            "files": {"pack": "files"},
        }}}),
    );
    let run = lint(&[&fine]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("no findings"), "{run}");
    let servers = serde_json::json!({"x": {
        "command": "npx", "args": ["-y", "some-server"], "env": {"API_KEY": "abcdefgh12345678"},
    }});
    let projects = serde_json::json!({"projects": {"/p": {"mcpServers": servers}}});
    for (file, value, fixes) in [
        (".claude.json", projects, ["`${API_KEY}`", "`\"args\": […, \"some-server@1.2.3\"]`"]),
        (
            ".cursor/mcp.json",
            serde_json::json!({"mcpServers": servers}),
            ["`${env:API_KEY}`", "`\"args\": […, \"some-server@1.2.3\"]`"],
        ),
        (
            "other/trunkline.json",
            serde_json::json!({"mcp": {"servers": {"x": {
                "command": ["npx", "-y", "some-server"], "environment": {"API_KEY": "abcdefgh12345678"},
            }}}}),
            ["`{env:API_KEY}`", "`\"command\": [\"npx\", …, \"some-server@1.2.3\"]`"],
        ),
    ] {
        let run = lint(&[&write(file, value)]);
        assert_eq!(run.code, 1, "{file}: {run}");
        assert!(fixes.iter().all(|fix| run.stdout.contains(fix)), "{file}: {run}");
    }
}

/// The outcome of every rule against a command, without the rule about two processes.
fn outcomes(command: &[String]) -> (BTreeMap<String, String>, String) {
    let mut lint = trunkline(&[]);
    lint.args(["lint", "--json", "--fail-on", "never", "--connect-timeout", "20s", "--"]).args(command);
    let run = Run::of(&mut lint, "");
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"));
    let word = |rule: &Value, member: &str| rule[member].as_str().unwrap_or_default().to_owned();
    let rules = report["targets"][0]["rules"].as_array().unwrap_or_else(|| panic!("{run}")).iter();
    let mut all: BTreeMap<_, _> = rules
        .map(|rule| (word(rule, "rule"), format!("{} {}", word(rule, "outcome"), word(rule, "why"))))
        .collect();
    let second = all.remove("second-process").unwrap_or_else(|| panic!("{run}"));
    (all, second)
}

/// Compares a server of which only one process can run with the same server without that limit.
fn is_judged_like_any_other(how: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [python, script] = server();
    let exclusive = script.replace("scripted_server", "exclusive_server");
    let lock = folder.path().join("lock").display().to_string();
    let (alone, second) = outcomes(&[python.clone(), exclusive, how.to_owned(), lock]);
    assert!(second.starts_with("finding"), "{second}");
    let (usual, second) = outcomes(&[python, script]);
    assert_eq!(second.trim(), "passed");
    assert_eq!(alone, usual);
}

#[test]
fn a_server_whose_second_process_kills_the_first_is_judged_like_any_other() {
    is_judged_like_any_other("kill");
}

#[test]
fn a_server_whose_second_process_waits_for_the_first_is_judged_like_any_other() {
    is_judged_like_any_other("wait");
}

#[test]
fn a_server_that_refuses_a_second_process_is_judged_like_any_other() {
    is_judged_like_any_other("refuse");
}
