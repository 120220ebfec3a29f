//! A table of decisions: which caller may call which tool with which arguments.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    outcome::Outcome::{self, Denied, Hidden, Runs},
    site::Site,
};
use serde_json::{Value, json};

/// Caller, tool, arguments, and the expected outcome.
type Row = (&'static str, &'static str, Value, Outcome);

fn policy() -> Value {
    json!({"default": "deny", "rules": [
        {"name": "secrets", "effect": "deny", "tools": ["files_secret*"]},
        {"name": "frozen", "effect": "deny", "tools": ["files_large"], "when": {"before": "2000-01-01T00:00:00Z"}},
        {"name": "past", "effect": "allow", "tools": ["files_nap"], "when": {"after": "2999-01-01T00:00:00Z"}},
        {"name": "root", "effect": "allow", "roles": ["admin"], "servers": ["files", "pay"]},
        {"name": "no-etc", "effect": "deny", "servers": ["files"], "reason": "system files are off limits",
         "arguments": [{"at": "/path", "within": "/etc"}]},
        {"name": "project", "effect": "allow", "callers": ["dev"], "servers": ["files"], "tools": ["gate"],
         "arguments": [{"at": "/path", "within": "/srv/project"}]},
        {"name": "steps", "effect": "allow", "callers": ["dev"], "tools": ["files_echo"],
         "arguments": [{"at": "/steps", "min": 0, "max": 3}]},
        {"name": "words", "effect": "allow", "callers": ["key:dev"], "tools": ["files_echo"],
         "arguments": [{"at": "/text", "glob": "hello *"}, {"at": "/steps", "exists": false}]},
        {"name": "choice", "effect": "allow", "callers": ["key:g*"], "tools": ["*_echo"],
         "arguments": [{"at": "/text", "oneOf": ["red", "green", 5]}]},
        {"name": "reads", "effect": "allow", "roles": ["reader"], "annotations": {"readOnlyHint": true}},
        {"name": "money", "effect": "allow", "callers": ["cfo"], "tags": ["money"]},
        {"name": "by-hand", "effect": "allow", "callers": ["ci"], "clients": ["by-*"], "tools": ["pay_pid"]},
        {"name": "other-client", "effect": "allow", "callers": ["ci"], "clients": ["robot"], "tools": ["pay_echo"]},
        {"name": "equal", "effect": "allow", "callers": ["ci"], "tools": ["pay_nap"],
         "arguments": [{"at": "/ms", "equals": 1}]},
    ]})
}

fn admin() -> Vec<Row> {
    vec![
        ("admin", "files_echo", json!({"text": "any"}), Runs),
        ("admin", "pay_echo", json!({"text": "any"}), Runs),
        ("admin", "files_gate", json!({"text": "a", "path": "/etc/passwd"}), Runs),
        ("admin", "files_secret", json!({"text": "a"}), Hidden),
        ("admin", "files_secret2", json!({"text": "a"}), Hidden),
        ("admin", "files_large", json!({"bytes": 1}), Runs),
        ("admin", "files_nix", json!({}), Hidden),
        ("admin", "other_echo", json!({"text": "a"}), Hidden),
        ("nobody", "files_echo", json!({"text": "any"}), Hidden),
        ("nobody", "files_gate", json!({"path": "/srv/project/a"}), Hidden),
        ("nobody", "pay_pid", json!({}), Hidden),
        ("nobody", "files_secret", json!({"text": "a"}), Hidden),
    ]
}

/// Nothing is there to wait for: the named files exist.
fn paths() -> Vec<Row> {
    let gate = |path: Value, outcome| ("dev", "files_gate", json!({"text": "x", "path": path}), outcome);
    vec![
        gate(json!("/srv/project/../../etc/passwd"), Denied),
        gate(json!("/srv/project/.."), Denied),
        gate(json!("/etc/passwd"), Denied),
        gate(json!("/etc"), Denied),
        gate(json!("//etc//passwd"), Denied),
        gate(json!("/./etc/passwd"), Denied),
        gate(json!("/ETC/passwd"), Denied),
        gate(json!("/home/dev"), Denied),
        gate(json!("/srv/projector"), Denied),
        gate(json!("srv/project/a"), Denied),
        gate(json!("~/a"), Denied),
        gate(json!("/srv/project/%2e%2e/a"), Denied),
        gate(json!("/srv/project\\..\\a"), Denied),
        gate(json!("file:///srv/project/a"), Denied),
        gate(json!("/srv/project/a\u{0}"), Denied),
        gate(json!(["/srv/project/a", "/etc/passwd"]), Denied),
        gate(json!(["/etc/passwd"]), Denied),
        gate(json!({"path": "/srv/project/a"}), Denied),
        gate(json!(7), Denied),
        gate(json!(null), Denied),
        ("dev", "files_gate", json!({"text": "x"}), Denied),
        ("dev", "files_gate", json!({"Path": "/srv/project/a"}), Denied),
        ("dev", "pay_gate", json!({"path": "/srv/project/a"}), Hidden),
    ]
}

fn arguments() -> Vec<Row> {
    let echo = |arguments, outcome| ("dev", "files_echo", arguments, outcome);
    let choose = |text: Value, outcome| ("guest", "files_echo", json!({ "text": text }), outcome);
    vec![
        echo(json!({"text": "a", "steps": 0}), Runs),
        echo(json!({"text": "a", "steps": 3}), Runs),
        echo(json!({"text": "a", "steps": 4}), Denied),
        echo(json!({"text": "a", "steps": -1}), Denied),
        echo(json!({"text": "a", "steps": "2"}), Denied),
        echo(json!({"text": "a", "steps": [1, 9]}), Denied),
        echo(json!({"text": "hello you"}), Runs),
        echo(json!({"text": "hello"}), Denied),
        echo(json!({"text": "Hello you"}), Denied),
        echo(json!({"text": "hello you", "steps": 4}), Denied),
        echo(json!({}), Denied),
        choose(json!("red"), Runs),
        choose(json!("green"), Runs),
        choose(json!("blue"), Denied),
        choose(json!(" red"), Denied),
        choose(json!("5"), Denied),
        choose(json!(null), Denied),
        ("guest", "pay_echo", json!({"text": "red"}), Runs),
        ("guest", "pay_pid", json!({}), Hidden),
        ("ci", "pay_nap", json!({"ms": 1}), Runs),
        ("ci", "pay_nap", json!({"ms": 1.0}), Runs),
        ("ci", "pay_nap", json!({"ms": 2}), Denied),
        ("ci", "pay_nap", json!({"ms": "1"}), Denied),
        ("ci", "pay_nap", json!({"ms": true}), Denied),
    ]
}

fn facts() -> Vec<Row> {
    vec![
        ("reader", "files_pid", json!({}), Runs),
        ("reader", "files_nap", json!({"ms": 1}), Hidden),
        ("reader", "files_echo", json!({"text": "a"}), Hidden),
        ("reader", "pay_pid", json!({}), Hidden),
        ("cfo", "pay_echo", json!({"text": "a"}), Runs),
        ("cfo", "pay_pid", json!({}), Hidden),
        ("cfo", "files_echo", json!({"text": "a"}), Hidden),
        ("ci", "pay_pid", json!({}), Runs),
        ("ci", "pay_echo", json!({"text": "a"}), Hidden),
        ("ci", "files_nap", json!({"ms": 1}), Hidden),
    ]
}

fn site() -> (Site, Vec<(String, String)>) {
    let site = Site::new("table");
    let mut files = site.echo("files", "modern");
    let words = files["command"].as_array_mut().unwrap();
    words.extend(["secret".into(), "secret2".into()]);
    files["tools"] = json!({"pid": {"annotations": {"readOnlyHint": true}}});
    let mut pay = site.echo("pay", "legacy");
    pay["tools"] = json!({"echo": {"tags": ["money", "slow"]}});
    site.configure(&json!({
        "mcp": {"servers": {"files": files, "pay": pay}},
        "policy": policy(),
        "auth": {"keys": site.path("keys.json")},
    }));
    let keys = site.keys(&[
        ("admin", &["admin"]),
        ("nobody", &[]),
        ("dev", &[]),
        ("guest", &[]),
        ("reader", &["reader"]),
        ("cfo", &[]),
        ("ci", &[]),
    ]);
    (site, keys.into_iter().map(|key| (key.id, key.token)).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_table_of_decisions_holds() {
    let (site, keys) = site();
    let rows: Vec<Row> = [admin(), paths(), arguments(), facts()].concat();
    assert!(rows.len() >= 60, "{} rows", rows.len());
    let mut door = site.open();
    let token = |id: &str| keys.iter().find(|(known, _)| known == id).unwrap().1.clone();
    let mut warm = Caller::open(&door, Some(&token("admin")), MODERN).await;
    warm.insist("files_echo", json!({"text": "there"})).await;
    warm.insist("pay_echo", json!({"text": "there"})).await;
    for revision in [MODERN, LEGACY] {
        for (id, _) in &keys {
            let mut caller = Caller::open(&door, Some(&token(id)), revision).await;
            let listed = caller.tools().await;
            for (_, tool, arguments, expected) in rows.iter().filter(|(who, ..)| who == id) {
                let answer = caller.call(tool, arguments.clone()).await;
                assert_eq!(Outcome::of(&answer), *expected, "{revision} {id} {tool} {arguments} {answer:#}");
                // A tool is listed unless no call of it can be allowed.
                let is_listed = listed.iter().any(|name| name == tool);
                assert_eq!(is_listed, *expected != Hidden, "{revision} {id} {tool}: {listed:?}");
            }
        }
    }
    let mut dev = Caller::open(&door, Some(&token("dev")), MODERN).await;
    let answer = dev.call("files_gate", json!({"path": "/etc/passwd"})).await;
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("system files are off limits"), "{message}");
    // The answer tells nothing about the configuration.
    assert!(!answer.to_string().contains("trunkline.json"), "{answer}");
    door.stop().await;
    site.emptied().await;
}
