//! `policy test` and `policy replay`.

use crate::{
    caller::{Caller, MODERN},
    site::Site,
};
use serde_json::{Value, json};
use std::process::{Output, Stdio};

fn rules(first: &Value) -> Value {
    json!({"default": "allow", "rules": [
        first,
        {"name": "etc", "effect": "deny", "tools": ["files_echo"], "arguments": [{"at": "/text", "within": "/etc"}]},
        {"name": "night", "effect": "deny", "tools": ["files_pid"], "when": {"from": "22:00", "until": "06:00"}},
    ]})
}

fn site(name: &str, first: &Value) -> Site {
    let site = Site::new(name);
    configure(&site, first);
    site
}

fn configure(site: &Site, first: &Value) {
    site.configure(&json!({
        "mcp": {"servers": {"files": site.echo("files", "modern")}},
        "policy": rules(first),
        "limits": {"approvalTimeout": "1s"},
        "audit": {"enabled": true, "directory": site.path("audit")},
    }));
}

fn run(site: &Site, words: &[&str]) -> (Option<i32>, String, Output) {
    let mut command = site.binary();
    command.args(words).arg("--config").arg(site.path("trunkline.json")).stdin(Stdio::null());
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), output)
}

#[test]
fn expectations_are_compared_with_decisions() {
    let site =
        site("expect", &json!({"name": "team", "effect": "ask", "callers": ["dev"], "tools": ["files_nap"]}));
    let good = json!({"expect": [
        {"tool": "files_echo", "arguments": {"text": "/etc/x"}, "decision": "deny", "rule": "etc"},
        {"tool": "files_echo", "arguments": {"text": "/srv/x"}, "decision": "allow"},
        {"tool": "files_nap", "caller": "dev", "decision": "ask", "rule": "team"},
        {"tool": "files_nap", "decision": "allow"},
        {"tool": "files_pid", "at": "2026-11-20T23:00:00Z", "decision": "hidden"},
        {"tool": "files_pid", "at": "2026-11-20T12:00:00Z", "decision": "allow"},
        {"tool": "other_pid", "decision": "hidden"},
    ]});
    site.write("table.json", &good.to_string());
    let table = site.path("table.json").display().to_string();
    let (code, text, output) = run(&site, &["policy", "test", &table]);
    assert_eq!(code, Some(0), "{text}{output:?}");
    let mut bad = good;
    bad["expect"][0]["decision"] = "allow".into();
    bad["expect"][2]["rule"] = "etc".into();
    bad["expect"][2]["name"] = "the team is asked".into();
    site.write("table.json", &bad.to_string());
    let (code, text, output) = run(&site, &["policy", "test", &table]);
    assert_eq!(code, Some(1), "{output:?}");
    assert!(text.contains("- expected allow") && text.contains("+ decides deny by rule `etc` ("), "{text}");
    assert!(text.contains("the team is asked") && text.contains("5 met of 7 expectations"), "{text}");
    site.write("table.json", r#"{"expect": [{"tool": "a", "decision": "maybe"}]}"#);
    let (code, _, output) = run(&site, &["policy", "test", &table]);
    assert_eq!(code, Some(2), "{output:?}");
}

#[test]
fn tools_that_a_pack_does_not_list_are_hidden_and_others_are_not_verified() {
    let site = Site::new("unlisted");
    site.configure(&json!({"mcp": {"servers": {
        "files": {"type": "builtin", "pack": "filesystem", "root": site.path("")},
        "other": {"command": ["sh", "-c", format!("date >> {}", site.path("started").display())]},
    }}}));
    let table = json!({"expect": [
        {"tool": "files_read_file", "decision": "allow"},
        {"tool": "files_nonsense", "decision": "allow"},
        {"tool": "other_any", "decision": "allow"},
    ]});
    site.write("table.json", &table.to_string());
    let (code, text, output) =
        run(&site, &["policy", "test", &site.path("table.json").display().to_string()]);
    assert_eq!(code, Some(1), "{output:?}");
    assert!(text.contains("files_nonsense for local") && text.contains("+ decides hidden"), "{text}");
    assert!(text.contains("other_any: not verified that it exists"), "{text}");
    assert!(!text.contains("files_read_file") && text.contains("2 met of 3"), "{text}");
    // Explanations start no program either.
    let (code, text, output) = run(&site, &["explain", "other_any", "--offline"]);
    assert_eq!(code, Some(1), "{output:?}");
    assert!(text.contains("has not connected yet"), "{text}");
    assert!(!site.path("started").exists(), "a server was started");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recorded_calls_are_decided_again() {
    let site = site("replay", &json!({"name": "none", "effect": "deny", "tools": ["files_large"]}));
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    caller.insist("files_nap", json!({"ms": 1})).await;
    caller.insist("files_echo", json!({"text": "/srv/x"})).await;
    caller.call("files_large", json!({"bytes": 1})).await;
    door.stop().await;
    let trail = site.path("audit").display().to_string();
    // The recorded calls of `echo` may have had any text, so the policy as it was leaves one open.
    let (code, text, output) = run(&site, &["policy", "replay", "--against", &trail]);
    assert_eq!(code, Some(0), "{text}{output:?}");
    assert!(text.contains("0 decided otherwise") && text.contains("1 call undecided"), "{text}");
    configure(&site, &json!({"name": "calm", "effect": "deny", "tools": ["files_nap"]}));
    let (code, text, output) = run(&site, &["policy", "replay", "--against", &trail, "--json"]);
    assert_eq!(code, Some(1), "{text}{output:?}");
    let told: Value = serde_json::from_str(&text).unwrap();
    let different = told["different"].as_array().unwrap();
    let seen: Vec<String> = different
        .iter()
        .map(|one| format!("{} {} {}", one["tool"], one["recorded"], one["now"]).replace('"', ""))
        .collect();
    assert!(seen.contains(&"files_nap allow [hidden]".to_owned()), "{seen:?}");
    assert!(seen.contains(&"files_large deny [allow]".to_owned()), "{seen:?}");
    assert_eq!(told["undecided"].as_array().unwrap().len(), 1, "{told:#}");
    site.emptied().await;
}
