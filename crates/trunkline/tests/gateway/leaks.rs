//! A caller learns nothing about what its role may not use.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    site::{HANG, PAUSE, Site},
    wire::Wire,
};
use serde_json::{Value, json};
use std::time::Instant;

/// A name that does not fit into a public one.
const LONG: &str = "this_name_is_so_long_that_it_is_cut_before_its_end_which_says_delete";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a14_the_door_of_a_forbidden_server_or_view_is_an_unknown_one() {
    let site = Site::new("doors");
    let missing = ["/nowhere/no-such-program".to_owned()];
    site.configure(&json!({
        "mcp": {"servers": {
            "echo": site.echo("echo", "modern"),
            "secret": site.echo("secret", "modern"),
            "broken": site.local("broken", &missing),
        }},
        "views": {"vault": {"servers": ["secret"], "description": "the keys of the house"}},
        "roles": {"guest": {"allow": ["echo_*"]}, "owner": {"allow": ["*"]}},
        "auth": {"keys": site.path("keys.json")},
    }));
    let keys = site.keys(&[("guest", &["guest"]), ("owner", &["owner"])]);
    let (guest, owner) = (&keys[0].token, &keys[1].token);
    let mut door = site.open();
    for name in ["/mcp/server/secret", "/mcp/vault"] {
        let mut able = Caller::at(&door, name, Some(owner), LEGACY).await;
        assert!(!able.tools().await.is_empty());
    }
    for revision in [LEGACY, MODERN] {
        let mut answers = Vec::new();
        for path in ["/mcp/server/nowhere", "/mcp/server/secret", "/mcp/server/broken", "/mcp/vault"] {
            let mut caller = Caller::silent(&door, path, Some(guest), revision).await;
            let params = json!({
                "protocolVersion": revision,
                "capabilities": {},
                "clientInfo": {"name": "by-hand", "version": "1"},
            });
            let method = if revision == LEGACY { "initialize" } else { "server/discover" };
            let answer = caller.ask(&json!(1), method, params).await.unwrap();
            answers.push((answer.status, answer.text()));
        }
        assert_eq!(answers[0].0, 404, "{answers:?}");
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    }
    // A refused guest ends nobody's session, and has its own door.
    let mut open = Caller::at(&door, "/mcp/server/echo", Some(guest), LEGACY).await;
    assert!(!open.tools().await.is_empty());
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a14_a_rule_also_matches_the_part_of_a_name_that_was_cut() {
    let site = Site::new("cut");
    let mut server = site.echo("echo", "modern");
    server["command"].as_array_mut().unwrap().push(json!(LONG));
    site.configure(&json!({
        "mcp": {"servers": {"echo": server}},
        "roles": {"low": {"deny": ["*delete*"]}, "high": {"allow": ["*"]}},
        "auth": {"keys": site.path("keys.json")},
    }));
    let keys = site.keys(&[("low", &["low"]), ("high", &["high"])]);
    let mut door = site.open();
    let mut high = Caller::open(&door, Some(&keys[1].token), MODERN).await;
    high.insist("echo_echo", json!({"text": "there"})).await;
    let tools = high.tools().await;
    let cut = tools.iter().find(|tool| tool.starts_with("echo_this_name")).unwrap();
    assert!(!cut.contains("delete"), "{cut}");
    let mut low = Caller::open(&door, Some(&keys[0].token), MODERN).await;
    assert_eq!(low.tools().await.len(), tools.len() - 1);
    let refused = low.call(cut, json!({"text": "gone"})).await;
    assert!(refused["error"].is_object(), "{refused:#}");
    door.stop().await;
    site.emptied().await;
}

/// Waits until a server of the status page matches, as the caller with this key sees it.
async fn seen(door: &crate::door::Door, token: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let page: Value = serde_json::from_str(&door.page("/status", Some(token)).await).unwrap();
        if page["upstreams"].as_array().unwrap().iter().any(&wanted) {
            return page;
        }
        assert!(began.elapsed() < HANG, "{page:#}");
        tokio::time::sleep(PAUSE).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a14_status_and_metrics_show_a_caller_no_more_than_its_role_allows() {
    let site = Site::new("operate");
    let mut broken = site.local("broken", &["/nowhere/no-such-program".to_owned()]);
    broken["start"] = "eager".into();
    site.configure(&json!({
        "mcp": {"servers": {
            "echo": site.echo("echo", "modern"),
            "secret": site.echo("secret", "modern"),
            "broken": broken,
        }},
        "views": {"vault": {"servers": ["secret"]}},
        "roles": {
            "guest": {"allow": ["echo_*", "broken_*"], "deny": ["echo_pid"]},
            "owner": {"allow": ["*"]},
            "operator": {"allow": ["echo_*"], "operate": true},
        },
        "auth": {"keys": site.path("keys.json")},
    }));
    let keys = site.keys(&[("guest", &["guest"]), ("owner", &["owner"]), ("op", &["guest", "operator"])]);
    let [guest, owner, operator] = [0, 1, 2].map(|index: usize| keys[index].token.as_str());
    let mut door = site.open();
    let mut able = Caller::open(&door, Some(owner), MODERN).await;
    able.insist("echo_echo", json!({"text": "there"})).await;
    let whole = seen(&door, operator, |one| one["lastError"].is_object()).await;
    assert!(whole.to_string().contains("/nowhere/no-such-program"), "{whole:#}");
    assert_eq!(whole["upstreams"].as_array().unwrap().len(), 3, "{whole:#}");
    assert!(whole["withheld"].is_null(), "{whole:#}");

    let part: Value = serde_json::from_str(&door.page("/status", Some(guest)).await).unwrap();
    let text = part.to_string();
    for hidden in ["secret", "vault", "/nowhere", "lastError", "\"sessions\"", "quarantined\":[{"] {
        assert!(!text.contains(hidden), "{hidden}: {part:#}");
    }
    let names: Vec<_> = part["upstreams"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["broken", "echo"], "{part:#}");
    assert!(part["withheld"].as_str().unwrap().contains("\"operate\": true"), "{part:#}");
    let tools = |page: &Value| {
        let servers = page["catalog"]["servers"].as_array().unwrap();
        servers.iter().find(|one| one["server"] == "echo").unwrap()["tools"].as_u64().unwrap()
    };
    assert_eq!(tools(&part), tools(&whole) - 1, "{part:#}");

    let page: Value = serde_json::from_str(&door.page("/status", Some(owner)).await).unwrap();
    assert_eq!(page["upstreams"].as_array().unwrap().len(), 3, "{page:#}");
    assert!(!page.to_string().contains("/nowhere"), "{page:#}");

    let mut wire = Wire::open(&door.address).await.unwrap();
    for token in [guest, owner] {
        let key = format!("Authorization: Bearer {token}\r\n");
        let refused = wire.send("GET /metrics", &key, "").await.unwrap();
        assert_eq!(refused.status, 403, "{}", refused.text());
        assert!(refused.text().contains("operate"), "{}", refused.text());
    }
    assert!(door.page("/metrics", Some(operator)).await.contains("server=\"secret\""));
    assert_eq!(door.page("/readyz?verbose", Some(owner)).await, "ready\n");
    assert!(door.page("/readyz?verbose", Some(operator)).await.contains("secret"));

    let told = site.binary().args(["status", "--key", guest, &door.endpoint]).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("echo") && !told.contains("secret"), "{told}");
    assert!(told.contains("not shown:") && told.contains("operate"), "{told}");
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a14_a_guest_does_not_start_servers_that_it_may_not_use() {
    let site = Site::new("asleep");
    site.configure(&json!({
        "mcp": {"servers": {
            "echo": site.echo("echo", "modern"),
            "secret": site.echo("secret", "modern"),
        }},
        "views": {"both": {"naming": "bare"}},
        "limits": {"listGrace": "30s"},
        "roles": {"guest": {"allow": ["echo_*"]}, "owner": {"allow": ["*"], "operate": true}},
        "auth": {"keys": site.path("keys.json")},
    }));
    let keys = site.keys(&[("guest", &["guest"]), ("owner", &["owner"])]);
    let (guest, owner) = (&keys[0].token, &keys[1].token);
    let mut door = site.open();
    for (path, prefix, revision) in [("/mcp", "echo_", LEGACY), ("/mcp/both", "", MODERN)] {
        let mut caller = Caller::at(&door, path, Some(guest), revision).await;
        let tools = caller.tools().await;
        assert!(tools.contains(&format!("{prefix}echo")), "{tools:?}");
        for method in ["prompts/list", "resources/list", "resources/templates/list"] {
            caller.request(method, json!({})).await;
        }
        caller.call("nowhere", json!({})).await;
        caller.request("resources/read", json!({"uri": "nowhere://at-all"})).await;
    }
    let page = seen(&door, owner, |one| one["name"] == "secret").await;
    let secret = page["upstreams"].as_array().unwrap().iter().find(|one| one["name"] == "secret").unwrap();
    assert_eq!(secret["state"], "idle", "{secret:#}");
    assert!(site.processes("secret").is_empty());
    let mut able = Caller::open(&door, Some(owner), MODERN).await;
    assert!(able.tools().await.contains(&"secret_echo".to_owned()));
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a14_a_servers_own_deny_matches_own_and_public_names() {
    let site = Site::new("denied");
    let mut server = site.echo("echo", "modern");
    server["deny"] = json!(["nap", "echo_pid", "*_spawn", "echo_door"]);
    server["tools"] = json!({"gate": {"rename": "door"}});
    let settings = json!({"mcp": {"servers": {"echo": server}}});
    site.configure(&settings);
    site.write(".config/trunkline/trunkline.json", &settings.to_string());
    let mut door = site.open();
    for (path, prefix) in [("/mcp", "echo_"), ("/mcp/server/echo", "")] {
        let mut caller = Caller::at(&door, path, None, MODERN).await;
        caller.insist(&format!("{prefix}echo"), json!({"text": "there"})).await;
        let tools = caller.tools().await;
        assert!(tools.contains(&format!("{prefix}ask")), "{tools:?}");
        for own in ["nap", "pid", "spawn", "gate", "door"] {
            let name = format!("{prefix}{own}");
            assert!(!tools.contains(&name), "{name}: {tools:?}");
            let refused = caller.call(&name, json!({"text": "x", "ms": 1})).await;
            assert!(refused["error"].is_object(), "{name}: {refused:#}");
        }
    }
    let listed = site.binary().args(["list", "echo", "tools", "--json"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("\"ask\"") && !listed.contains("\"pid\""), "{listed}");
    door.stop().await;
    site.emptied().await;
}
