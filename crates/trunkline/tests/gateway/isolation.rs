//! Isolation: one caller's state is invisible to all others.

use crate::{
    caller::{Caller, LEGACY, MODERN, text},
    site::{Site, rounds},
    ten::rmcp_server,
};
use serde_json::{Value, json};
use std::time::Instant;
use tokio::task::JoinSet;

const KEYS: usize = 20;
/// Number of connections per key and era.
const CONNECTIONS: usize = 2;
const SHORT_RUN: usize = 20_000;
const LONG_RUN: usize = 100_000;
/// Every nth call reports progress.
const PROGRESS: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s03_calls_with_equal_ids_and_tokens_are_never_crossed() {
    let site = Site::new("crossed");
    let mut shared = site.echo("shared", "legacy");
    shared["sessions"] = "shared".into();
    let servers =
        json!({"modern": site.echo("modern", "modern"), "shared": shared, "own": site.echo("own", "legacy")});
    site.configure(&json!({
        "mcp": {"servers": servers},
        "auth": {"keys": site.path("keys.json")},
        "defaults": {"concurrency": 256},
    }));
    let ids: Vec<String> = (0..KEYS).map(|number| format!("key-{number}")).collect();
    let callers: Vec<(&str, &[&str])> = ids.iter().map(|id| (id.as_str(), &[][..])).collect();
    let keys = site.keys(&callers);
    let mut door = site.open();
    let all = rounds(SHORT_RUN, LONG_RUN);
    let each = all / (KEYS * 2 * CONNECTIONS);
    let began = Instant::now();
    let mut running = JoinSet::new();
    for key in &keys {
        for (number, revision) in [LEGACY, MODERN].into_iter().cycle().take(2 * CONNECTIONS).enumerate() {
            let mut caller = Caller::open(&door, Some(&key.token), revision).await;
            let name = format!("{}/{revision}/{number}", key.id);
            running.spawn(async move {
                for server in ["modern", "shared", "own"] {
                    caller.insist(&format!("{server}_echo"), json!({"text": name})).await;
                }
                for number in 0..each {
                    exchange(&mut caller, &name, number).await;
                }
                each
            });
        }
    }
    let mut done = 0;
    while let Some(one) = running.join_next().await {
        done += one.unwrap();
    }
    println!("{done} calls in {:?}, none crossed", began.elapsed());
    assert_eq!(done, each * KEYS * 2 * CONNECTIONS);
    door.stop().await;
    site.emptied().await;
}

/// One call; all callers use the same request ids and progress tokens.
async fn exchange(caller: &mut Caller, name: &str, number: usize) {
    let server = ["modern", "shared", "modern", "own"][number % 4];
    let mine = format!("{name}/{server}/{number}");
    let steps = usize::from(number.is_multiple_of(PROGRESS)) * 2;
    let mut params = json!({"name": format!("{server}_echo"), "arguments": {"text": mine, "steps": steps}});
    if steps > 0 {
        params["_meta"]["progressToken"] = number.into();
    }
    let answer = caller.ask(&json!(number), "tools/call", params).await.unwrap();
    let mut messages = answer.messages();
    let last = messages.pop().unwrap_or_else(|| panic!("{mine}: {}", answer.text()));
    assert_eq!(last["id"], number, "{mine}: {last:#}");
    assert_eq!(text(&last).as_deref(), Some(mine.as_str()), "{last:#}");
    assert_eq!(messages.len(), steps, "{mine}: {messages:#?}");
    for told in messages {
        let params = &told["params"];
        assert_eq!(
            (&params["progressToken"], &params["message"]),
            (&json!(number), &json!(mine)),
            "{told:#}"
        );
    }
}

fn two_callers(site: &Site, servers: &Value) -> [String; 2] {
    site.configure(&json!({
        "mcp": {"servers": servers},
        "views": {"part": {"servers": ["*"]}},
        "auth": {"keys": site.path("keys.json")},
    }));
    let keys = site.keys(&[("ada", &[]), ("eve", &[])]);
    [keys[0].token.clone(), keys[1].token.clone()]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s01_s04_a_session_is_unknown_to_others_and_at_other_doors() {
    let site = Site::new("replayed");
    let [ada, eve] = two_callers(&site, &json!({"echo": site.echo("echo", "legacy")}));
    let mut door = site.open();
    let mut owner = Caller::open(&door, Some(&ada), LEGACY).await;
    owner.insist("echo_echo", json!({"text": "mine"})).await;
    let mut refusals = Vec::new();
    for (path, token, session) in [
        ("/mcp", &eve, owner.session.clone()),
        ("/mcp/server/echo", &ada, owner.session.clone()),
        ("/mcp/part", &ada, owner.session.clone()),
        ("/mcp", &ada, Some("00000000-0000-0000-0000-000000000000".to_owned())),
    ] {
        let mut other = Caller::silent(&door, path, Some(token), LEGACY).await;
        other.session = session;
        let answer = other.ask(&json!(1), "tools/list", json!({})).await.unwrap();
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
        refusals.push(answer.text());
    }
    assert!(refusals.windows(2).all(|two| two[0] == two[1]), "{refusals:#?}");
    assert_eq!(owner.said("echo_echo", json!({"text": "still mine"})).await, "still mine");
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s05_the_question_of_a_legacy_server_can_be_answered_by_its_own_caller_only() {
    answered_by_its_own_caller_only("parked", "legacy").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s05_the_question_of_a_modern_server_can_be_answered_by_its_own_caller_only() {
    answered_by_its_own_caller_only("stateless", "modern").await;
}

async fn answered_by_its_own_caller_only(name: &str, era: &str) {
    let site = Site::new(name);
    let [ada, eve] = two_callers(&site, &json!({"echo": site.echo("echo", era)}));
    let mut door = site.open();
    let mut owner = Caller::open(&door, Some(&ada), MODERN).await;
    owner.capabilities = json!({"elicitation": {"form": {}}});
    owner.insist("echo_echo", json!({"text": "there"})).await;
    let asked = owner.call("echo_ask", json!({})).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked:#}");
    let questions = asked["result"]["inputRequests"].as_object().unwrap();
    let key = questions.keys().next().unwrap();
    let answer = json!({
        "name": "echo_ask",
        "arguments": {},
        "requestState": asked["result"]["requestState"],
        "inputResponses": {key: {"action": "accept", "content": {"name": "Ada"}}},
    });
    let mut other = Caller::open(&door, Some(&eve), MODERN).await;
    other.capabilities = owner.capabilities.clone();
    let refused = other.request("tools/call", answer.clone()).await;
    assert!(refused["error"].is_object() && !refused.to_string().contains("Ada"), "{refused:#}");
    if era == "legacy" {
        // A parked call can be continued only at the endpoint where it was made.
        let mut elsewhere = Caller::at(&door, "/mcp/part", Some(&ada), MODERN).await;
        elsewhere.capabilities = owner.capabilities.clone();
        let refused = elsewhere.request("tools/call", answer.clone()).await;
        assert!(refused["error"].is_object() && !refused.to_string().contains("Ada"), "{refused:#}");
    }
    let given = owner.request("tools/call", answer).await;
    assert!(text(&given).is_some_and(|text| text.contains("Ada")), "{given:#}");
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s05_a_task_of_another_caller_does_not_exist() {
    let site = Site::new("tasks");
    let [ada, eve] = two_callers(&site, &json!({"rmcp": site.local("rmcp", &[rmcp_server()])}));
    let mut door = site.open();
    let mut owner = Caller::open(&door, Some(&ada), MODERN).await;
    owner.capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    owner.insist("rmcp_echo", json!({"text": "there"})).await;
    let begun = owner.call("rmcp_endure", json!({})).await;
    let id = begun["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{begun:#}")).to_owned();
    let mut other = Caller::open(&door, Some(&eve), MODERN).await;
    other.capabilities = owner.capabilities.clone();
    for method in ["tasks/get", "tasks/cancel"] {
        let foreign = other.request(method, json!({"taskId": id})).await;
        let unknown = other.request(method, json!({"taskId": "nobody's"})).await;
        assert!(foreign["error"].is_object(), "{method}: {foreign:#}");
        assert_eq!(foreign["error"]["code"], unknown["error"]["code"], "{method}");
        let shown = |error: &Value, id: &str| error["error"]["message"].as_str().unwrap().replace(id, "…");
        assert_eq!(shown(&foreign, &id), shown(&unknown, "nobody's"), "{method}");
    }
    let seen = owner.request("tasks/get", json!({"taskId": id})).await;
    assert_eq!(seen["result"]["status"], "working", "{seen:#}");
    let ended = owner.request("tasks/cancel", json!({"taskId": id})).await;
    assert!(ended["error"].is_null(), "{ended:#}");
    door.stop().await;
    site.emptied().await;
}
