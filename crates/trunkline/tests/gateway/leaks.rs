//! A caller learns nothing about what its role may not use.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    site::Site,
};
use serde_json::json;

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
