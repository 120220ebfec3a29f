//! Input of users: commands without `--`, names, JSON objects; and lists that are incomplete.
#![expect(dead_code, reason = "only a part of the shared support is used here")]

mod support;

use serde_json::{Value, json};
use std::{fs, os::unix::fs::PermissionsExt, path::Path};
use support::{Run, trunkline};

/// A home directory with an executable server and a configuration.
fn home(servers: &Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = fs::read_to_string(&support::server()[1]).expect("the script can be read");
    let program = folder.path().join("server.py");
    fs::write(&program, format!("#!/usr/bin/env python3\n{script}")).expect("it can be written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it can be changed");
    let settings = folder.path().join(".config/trunkline/trunkline.json");
    fs::create_dir_all(settings.parent().expect("it has a folder")).expect("a folder can be made");
    fs::write(settings, json!({"mcp": {"servers": servers}}).to_string()).expect("it can be written");
    folder
}

fn run(home: &Path, args: &[&str]) -> Run {
    let text = home.to_string_lossy();
    Run::of(trunkline(&[("HOME", &text)]).args(args).current_dir(home), "")
}

fn json_of(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"))
}

#[test]
fn a_program_needs_no_separator() {
    let home = home(&json!({}));
    let script = &support::server()[1];
    for args in [
        &["list", "./server.py"][..],
        &["list", "tools", "python3", "-u", script],
        &["doctor", "--no-call", "./server.py"],
        &["lint", "--rule", "ping-result", "python3", "-u", script],
        &["call", "./server.py", "echo", "message=hi"],
    ] {
        let run = run(home.path(), args);
        assert_eq!(run.code, 0, "{args:?}: {run}");
    }
}

#[test]
fn a_configured_name_wins_over_a_program() {
    let home = home(&json!({"sh": {"command": support::server()}}));
    let run = run(home.path(), &["call", "sh", "echo", "message=by name"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "by name\n"), "{run}");
}

#[test]
fn arguments_may_be_one_json_object() {
    let home = home(&json!({}));
    let good = run(home.path(), &["call", "./server.py", "echo", r#"{"message": "from = JSON"}"#]);
    assert_eq!((good.code, good.stdout.as_str()), (0, "from = JSON\n"), "{good}");
    let bad = run(home.path(), &["call", "./server.py", "echo", r#"{"message": }"#]);
    assert_eq!(bad.code, 2, "{bad}");
    assert!(bad.stderr.contains("is not valid JSON"), "{bad}");
}

#[test]
fn without_a_target_the_configured_servers_are_listed_with_their_health() {
    let home = home(&json!({
        "fine": {"command": support::server()},
        "gone": {"command": ["/nowhere/at-all"]},
    }));
    let text = run(home.path(), &["list"]);
    assert_eq!(text.code, 1, "{text}");
    let row =
        |name: &str| text.stdout.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert!(row("fine").contains("ok") && row("fine").contains("12"), "{text}");
    assert!(row("gone").contains("fails") && text.stdout.contains("/nowhere/at-all"), "{text}");
    let page = json_of(&run(home.path(), &["list", "--json"]));
    assert_eq!(
        (&page["servers"][0]["ok"], &page["servers"][0]["tools"]),
        (&json!(true), &json!(12)),
        "{page}"
    );
    assert_eq!(page["servers"][1]["error"]["code"], "E219", "{page}");
}

#[test]
fn the_command_line_overrides_a_configured_server() {
    let silent = json!({"command": ["sh", "-c", "exec sleep 600"]});
    let home = home(&json!({"silent": silent, "shown": {"command": support::server()}}));
    let run_with = |args: &[&str]| run(home.path(), args);
    let late = run_with(&["list", "silent", "--connect-timeout", "300ms"]);
    assert_eq!(late.code, 3, "{late}");
    assert!(late.stderr.contains("300 ms") || late.stderr.contains("0.3 s"), "{late}");
    let log = home.path().join("log");
    let variable = format!("SERVER_LOG={}", log.display());
    let examined = run_with(&["doctor", "--no-call", "--env", &variable, "shown"]);
    assert_eq!(examined.code, 0, "{examined}");
    assert!(fs::read_to_string(log).is_ok_and(|text| text.contains("initialize")), "{examined}");
}

#[test]
fn advice_for_a_configured_server_is_in_our_spelling() {
    let needs = "import os, sys; sys.exit(0 if 'API_KEY' in os.environ else 'KeyError: API_KEY is not set')";
    let home = home(&json!({"needy": {"command": ["python3", "-c", needs]}}));
    let run = run(home.path(), &["doctor", "needy"]);
    assert!(run.stdout.contains("\"environment\": {") && !run.stdout.contains("\"env\":"), "{run}");
}

/// In `trunkline.json` a command is one list, so the program belongs into the advice.
#[test]
fn an_advised_command_can_be_copied_into_the_configuration() {
    let home = home(&json!({
        "relative": {"command": ["python3", "gone/server.py"]},
        "shell": {"command": ["cat", "|", "tee"]},
        "one-text": {"command": ["python3 server.py"]},
    }));
    for (name, expected) in [
        ("relative", json!(["python3", "/absolute/path/to/gone/server.py"])),
        ("shell", json!(["sh", "-c", "cat | tee"])),
        ("one-text", json!(["python3", "server.py"])),
    ] {
        let run = run(home.path(), &["doctor", name]);
        let advice = run.stdout.lines().find_map(|line| line.trim().strip_prefix("\"command\": "));
        let advice = advice.unwrap_or_else(|| panic!("{run}"));
        let command: Value = serde_json::from_str(advice).unwrap_or_else(|error| panic!("{error}: {run}"));
        assert_eq!(command, expected);
    }
}

/// A server whose `resources/list` (or another method) fails.
fn failing(method: &str) -> String {
    format!(
        r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    reply = {{"jsonrpc": "2.0", "id": message["id"]}}
    if message["method"] == "{method}":
        reply["error"] = {{"code": -32603, "message": "no such table"}}
    elif message["method"] == "initialize":
        reply["result"] = {{"protocolVersion": "2025-06-18", "serverInfo": {{"name": "s", "version": "1"}},
                           "capabilities": {{"tools": {{}}, "resources": {{}}}}}}
    elif message["method"] == "tools/list":
        reply["result"] = {{"tools": [{{"name": "query", "inputSchema": {{"type": "object"}}}}]}}
    elif message["method"] == "resources/list":
        reply["result"] = {{"resources": [{{"uri": "db://one", "name": "one"}}]}}
    else:
        reply["error"] = {{"code": -32601, "message": "unknown"}}
    print(json.dumps(reply), flush=True)
"#
    )
}

#[test]
fn a_list_that_fails_hides_no_other() {
    let home = home(&json!({}));
    let list = |method: &str, more: &[&str]| {
        let script = failing(method);
        run(home.path(), &[&["list"], more, &["--", "python3", "-c", &script]].concat())
    };
    let text = list("resources/list", &[]);
    assert_eq!(text.code, 0, "{text}");
    assert!(text.stdout.contains("query()"), "{text}");
    assert!(text.stderr.contains("the resources cannot be listed: no such table"), "{text}");
    let page = json_of(&list("resources/list", &["--json"]));
    assert_eq!(page["tools"][0]["name"], "query", "{page}");
    assert_eq!(page["errors"]["resources"]["message"], "no such table", "{page}");
    assert_eq!(list("resources/list", &["resources"]).code, 1);
    let tools = list("tools/list", &[]);
    assert_eq!(tools.code, 1, "{tools}");
    assert!(tools.stdout.contains("db://one"), "{tools}");
    assert!(tools.stderr.contains("while listing the tools"), "{tools}");
}

#[test]
fn servers_that_are_still_starting_are_named_and_can_be_waited_for() {
    let [python, script] = support::server();
    let home = home(&json!({}));
    let slow = format!("while [ ! -e go ]; do sleep 0.05; done; exec {python} {script}");
    let settings = json!({
        "mcp": {"servers": {
            "quick": {"command": support::server(), "start": "eager"},
            "slow": {"command": ["sh", "-c", slow], "cwd": home.path(), "start": "eager"},
        }},
        "limits": {"listGrace": "0ms"},
    });
    let file = home.path().join("gateway.json");
    fs::write(&file, settings.to_string()).expect("it can be written");
    let file = file.to_str().expect("a path is text");
    let list = |more: &[&str]| {
        let gateway = ["--", env!("CARGO_BIN_EXE_trunkline"), "serve", "--stdio", "--config", file];
        run(home.path(), &[&["list", "tools"], more, &gateway].concat())
    };
    let first = list(&[]);
    assert!(first.stderr.contains("still starting: slow"), "{first}");
    assert_eq!(json_of(&list(&["--json"]))["stillStarting"], json!(["slow"]));
    fs::write(home.path().join("go"), "").expect("it can be written");
    let waited = list(&["--wait"]);
    assert!(!waited.stderr.contains("still starting"), "{waited}");
    assert!(waited.stdout.contains("slow_echo") || waited.stdout.contains("slow__echo"), "{waited}");
}

#[test]
fn servers_that_cannot_start_are_not_called_starting_and_not_waited_for() {
    let home = home(&json!({}));
    let settings = json!({"mcp": {"servers": {
        "quick": {"command": support::server(), "start": "eager"},
        "gone": {"command": ["/nowhere/no-such-program"]},
        "unset": {"command": ["sh", "-c", "{env:TRUNKLINE_TEST_UNSET}"]},
    }}});
    let file = home.path().join("gateway.json");
    fs::write(&file, settings.to_string()).expect("it can be written");
    let file = file.to_str().expect("a path is text");
    let list = |more: &[&str]| {
        let gateway = ["--", env!("CARGO_BIN_EXE_trunkline"), "serve", "--stdio", "--config", file];
        run(home.path(), &[&["list", "tools"], more, &gateway].concat())
    };
    let began = std::time::Instant::now();
    let waited = list(&["--wait=10m"]);
    assert!(began.elapsed() < std::time::Duration::from_mins(5), "it waited for servers that failed");
    assert!(waited.stderr.contains("not available: gone, unset; `trunkline status` says why"), "{waited}");
    assert!(!waited.stderr.contains("still starting"), "{waited}");
    let page = json_of(&list(&["--json", "--wait=10m"]));
    assert_eq!((&page["unavailable"], page.get("stillStarting")), (&json!(["gone", "unset"]), None));
}

/// `deny`, `hide` and roles hold for a server that is called by its name, too.
#[test]
fn a14_rules_hold_for_a_server_called_by_its_name() {
    let command = support::server();
    let home = home(&json!({
        "demo": {"command": command, "deny": ["ech*"], "tools": {"environment": {"hide": true}}},
    }));
    let file = home.path().join(".config/trunkline/trunkline.json");
    let mut settings: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    settings["roles"] = json!({"mine": {"allow": ["*"], "deny": ["demo_odd"], "callers": ["local"]}});
    fs::write(&file, settings.to_string()).unwrap();
    let listed = json_of(&run(home.path(), &["list", "demo", "tools", "--json"]));
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(!names.is_empty(), "{listed}");
    for denied in ["echo", "environment", "odd"] {
        assert!(!names.contains(&denied), "{names:?}");
        for more in [&[][..], &["--no-check"]] {
            let args = [&["call", "demo", denied, r#"{"message": "m", "name": "HOME"}"#], more].concat();
            let call = run(home.path(), &args);
            assert_ne!(call.code, 0, "{call}");
            assert!(call.stderr.contains(&format!("no tool named `{denied}`")), "{call}");
        }
    }
}

/// Rules hold for prompts and resources, too, and for everything that a bridge passes on.
#[test]
fn a14_rules_hold_for_every_command_that_takes_a_name() {
    let command = support::server();
    let home = home(&json!({"demo": {"command": command, "deny": ["ech*"]}}));
    let file = home.path().join(".config/trunkline/trunkline.json");
    let mut settings: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let mine = json!({"deny": ["demo_odd", "greet", "demo_demo://secret*"], "callers": ["local"]});
    settings["roles"] = json!({"mine": mine});
    fs::write(&file, settings.to_string()).unwrap();
    let bridge = ["--", env!("CARGO_BIN_EXE_trunkline"), "bridge", "demo"];
    for (first, last) in [(&["demo"][..], &[][..]), (&[], &bridge)] {
        let with = |verb: &str, words: &[&str]| run(home.path(), &[&[verb], first, words, last].concat());
        let lists = json_of(&with("list", &["--json"]));
        let texts = lists.to_string();
        assert!(texts.contains("environment") && texts.contains("demo://text"), "{lists:#}");
        for denied in ["\"echo\"", "\"odd\"", "\"greet\""] {
            assert!(!texts.contains(denied), "{denied}: {lists:#}");
        }
        for (verb, words) in [
            ("call", &["echo", "message=x", "--no-check"][..]),
            ("prompt", &["greet", "who=Ada"]),
            ("prompt", &["greet", "who=Ada", "--no-check"]),
            ("read", &["demo://secret"]),
            ("complete", &["prompt", "greet", "who=A"]),
        ] {
            let refused = with(verb, words);
            assert_ne!(refused.code, 0, "{verb} {words:?}: {refused}");
            let text = &refused.stderr;
            assert!(text.contains("no ") || text.contains("unknown "), "{verb} {words:?}: {refused}");
        }
        let read = with("read", &["demo://text"]);
        assert_eq!(read.code, 0, "{read}");
    }
}
