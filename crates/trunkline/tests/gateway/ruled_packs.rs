//! Roles decide who may use the built-in tools, if no servers are configured.

use crate::{
    allowed::Line,
    caller::{Caller, LEGACY, MODERN},
    door::Door,
    rest::{Rest, body_of, code},
    site::{HANG, PAUSE, Site},
};
use serde_json::{Value, json};
use std::time::Instant;

const ALLOWED: &str = "read_file";
const DENIED: &str = "list_directory";
const UNKNOWN: &str = "no_such_tool";

/// A site without servers, and the keys of a guest, an owner and a caller without a role.
fn site(name: &str) -> (Site, [String; 3]) {
    let site = Site::new(name);
    site.configure(&json!({
        "roles": {"guest": {"allow": ["read_*"], "deny": ["*multiple*"]}, "owner": {"allow": ["*"]}},
        "auth": {"keys": site.path("keys.json")},
    }));
    site.write("hello.txt", "good morning");
    let keys = site.keys(&[("guest", &["guest"]), ("owner", &["owner"]), ("nobody", &[])]);
    (site, [0, 1, 2].map(|index: usize| keys[index].token.clone()))
}

/// The answer to a call, without the name of the tool.
fn told(answer: &Value, tool: &str) -> String {
    assert!(answer["error"].is_object(), "{answer:#}");
    answer["error"].to_string().replace(tool, "TOOL")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a14_roles_decide_who_may_use_the_built_in_tools_in_both_eras() {
    let (site, [guest, owner, nobody]) = site("packs");
    let mut door = site.open();
    for revision in [LEGACY, MODERN] {
        let all = Caller::open(&door, Some(&owner), revision).await.tools().await;
        assert!(all.len() > 15 && all.contains(&DENIED.to_owned()), "{all:?}");
        let mut caller = Caller::open(&door, Some(&guest), revision).await;
        let tools = caller.tools().await;
        assert!(tools.contains(&ALLOWED.to_owned()), "{tools:?}");
        assert!(
            tools.iter().all(|tool| tool.starts_with("read_") && !tool.contains("multiple")),
            "{tools:?}"
        );
        assert!(caller.said(ALLOWED, json!({"path": "hello.txt"})).await.contains("good morning"));
        for denied in [DENIED, "read_multiple_files", "trunkline_list_directory"] {
            let refused = told(&caller.call(denied, json!({"path": "."})).await, denied);
            assert_eq!(refused, told(&caller.call(UNKNOWN, json!({"path": "."})).await, UNKNOWN));
        }
        let mut caller = Caller::open(&door, Some(&nobody), revision).await;
        assert_eq!(caller.tools().await, Vec::<String>::new());
        told(&caller.call(ALLOWED, json!({"path": "hello.txt"})).await, ALLOWED);
    }
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a14_roles_decide_who_may_use_the_built_in_tools_over_rest_and_in_the_status() {
    let (site, [guest, owner, nobody]) = site("packs-rest");
    let mut door = site.open();
    // The tools are known once a list was answered.
    Caller::open(&door, Some(&owner), MODERN).await.tools().await;
    let mut rest = Rest::at(&door, Some(&guest)).await;
    let listed = body_of(&rest.get("/mcp/tools").await);
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.contains(&ALLOWED) && !names.contains(&DENIED), "{names:?}");
    let (_, done) = rest.execute(ALLOWED, &json!({"params": {"path": "hello.txt"}})).await;
    assert_eq!(done["success"], true, "{done:#}");
    let mut refused = Vec::new();
    for tool in [DENIED, UNKNOWN] {
        let (answer, body) = rest.execute(tool, &json!({"params": {"path": "."}})).await;
        assert_eq!(rest.get(&format!("/mcp/tools/{tool}")).await.status, 404);
        refused.push((answer.status, code(&body).to_owned()));
    }
    assert_eq!(refused[0], refused[1]);
    assert_eq!(refused[0], (404, "TOOL_NOT_FOUND".to_owned()));
    let described = rest.get("/openapi.json").await.text();
    assert!(described.contains(ALLOWED) && !described.contains(DENIED), "{described}");
    let count = async |door: &Door, key: &str| {
        let page: Value = serde_json::from_str(&door.page("/status", Some(key)).await).unwrap();
        page["catalog"]["servers"][0]["tools"].as_u64()
    };
    assert_eq!(count(&door, &guest).await, Some(names.len() as u64));
    assert_eq!(count(&door, &nobody).await, None);
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a14_the_role_of_the_local_caller_decides_over_stdio() {
    let site = Site::new("packs-stdio");
    site.configure(&json!({"roles": {"me": {"allow": ["read_*"], "callers": ["local"]}}}));
    site.write("hello.txt", "good morning");
    let mut line = Line::open(&site).await;
    let listed = line.request("tools/list", json!({})).await.to_string();
    assert!(listed.contains(ALLOWED) && !listed.contains(DENIED), "{listed}");
    let read = line.call(ALLOWED, json!({"path": "hello.txt"})).await;
    assert!(read["result"].to_string().contains("good morning"), "{read:#}");
    let refused = told(&line.call(DENIED, json!({"path": "."})).await, DENIED);
    assert_eq!(refused, told(&line.call(UNKNOWN, json!({"path": "."})).await, UNKNOWN));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a14_policy_rules_hold_for_the_built_in_tools() {
    let site = Site::new("packs-policy");
    site.configure(&json!({"policy": {"rules": [{"effect": "deny", "tools": ["list_*"]}]}}));
    site.write("hello.txt", "good morning");
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    let tools = caller.tools().await;
    assert!(tools.contains(&ALLOWED.to_owned()) && !tools.contains(&DENIED.to_owned()), "{tools:?}");
    assert!(caller.said(ALLOWED, json!({"path": "hello.txt"})).await.contains("good morning"));
    let refused = caller.call(DENIED, json!({"path": "."})).await;
    assert!(!refused.to_string().contains("hello.txt"), "{refused:#}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a14_changed_roles_hold_for_the_built_in_tools_without_a_restart() {
    let (site, [guest, ..]) = site("packs-reload");
    let mut door = site.open();
    let mut caller = Caller::open(&door, Some(&guest), MODERN).await;
    assert!(caller.said(ALLOWED, json!({"path": "hello.txt"})).await.contains("good morning"));
    site.configure(&json!({
        "roles": {"guest": {"allow": [DENIED]}},
        "auth": {"keys": site.path("keys.json")},
    }));
    let began = Instant::now();
    while caller.tools().await != [DENIED] {
        assert!(began.elapsed() < HANG, "the new roles do not hold");
        tokio::time::sleep(PAUSE).await;
    }
    told(&caller.call(ALLOWED, json!({"path": "hello.txt"})).await, ALLOWED);
    door.stop().await;
}
