//! Tasks over MCP and executions are the same things: each way in sees, answers and ends those of
//! the others. The tasks are those of a real server.

use crate::{
    caller::{Caller, LEGACY, MODERN, text},
    door::Door,
    rest::{Rest, body_of},
    site::Site,
    ten::rmcp_server,
};
use serde_json::{Value, json};

/// A server whose tools become tasks, one whose tools do not, and the keys of two callers.
fn site(name: &str) -> (Site, Vec<String>) {
    let site = Site::new(name);
    site.configure(&json!({
        "mcp": {"servers": {
            "rmcp": site.local("rmcp", &[rmcp_server()]),
            "echo": site.echo("echo", "modern"),
        }},
        "auth": {"keys": site.path("keys.json")},
        "store": {"path": site.path("store.redb")},
    }));
    let keys = site.keys(&[("ada", &[]), ("eve", &[])]);
    (site, keys.into_iter().map(|key| key.token).collect())
}

async fn modern(door: &Door, token: &str) -> Caller {
    let mut caller = Caller::open(door, Some(token), MODERN).await;
    caller.capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    caller.insist("rmcp_echo", json!({"text": "there"})).await;
    caller.insist("echo_echo", json!({"text": "there"})).await;
    caller
}

/// The executions that a caller sees over REST.
async fn listed(rest: &mut Rest) -> Vec<Value> {
    body_of(&rest.get("/mcp/executions").await)["executions"].as_array().unwrap().clone()
}

fn task_id(created: &Value) -> String {
    created["taskId"].as_str().unwrap_or_else(|| panic!("{created:#}")).to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_s05_a_task_of_the_extension_is_an_execution_of_its_caller() {
    let (site, keys) = site("linked");
    let mut door = site.open();
    let mut mcp = modern(&door, &keys[0]).await;
    let (mut ada, mut eve) = (Rest::at(&door, Some(&keys[0])).await, Rest::at(&door, Some(&keys[1])).await);
    assert_eq!(listed(&mut ada).await, Vec::<Value>::new(), "calls without tasks are no executions");

    let task = task_id(&mcp.call("rmcp_endure", json!({})).await["result"]);
    let seen = listed(&mut ada).await;
    assert_eq!((seen.len(), &seen[0]["taskId"], &seen[0]["tool"]), (1, &json!(task), &json!("rmcp_endure")));
    assert_eq!(seen[0]["state"], "running", "{seen:?}");
    let id = seen[0]["executionId"].as_str().unwrap().to_owned();
    assert_eq!(listed(&mut eve).await, Vec::<Value>::new());
    assert_eq!(eve.get(&format!("/mcp/executions/{id}")).await.status, 404);
    assert_eq!(eve.delete(&id).await.0.status, 404);
    let cancelled = ada.delete(&id).await.1;
    assert_eq!(cancelled["state"], "cancelled", "{cancelled}");
    let told = mcp.request("tasks/get", json!({"taskId": task})).await;
    assert_eq!(told["result"]["status"], "cancelled", "{told:#}");
    assert_eq!(mcp.said("rmcp_cancelled", json!({"count": 1})).await, "1 cancelled", "at the server itself");

    let task = task_id(&mcp.call("rmcp_research", json!({})).await["result"]);
    let mut all = listed(&mut ada).await;
    let id = all.pop().unwrap()["executionId"].as_str().unwrap().to_owned();
    let asks = body_of(&ada.get(&format!("/mcp/executions/{id}?wait=30")).await);
    assert_eq!((&asks["state"], &asks["taskId"]), (&json!("waiting"), &json!(task)), "{asks}");
    assert!(asks["question"]["schema"]["properties"]["name"].is_object(), "{asks}");
    let answer = json!({"content": {"name": "Ada"}});
    let (answered, body) = ada.post(&format!("/mcp/executions/{id}/answer"), "", &answer).await;
    assert_eq!(answered.status, 200, "{body}");
    let done = body_of(&ada.get(&format!("/mcp/executions/{id}?wait=30")).await);
    assert_eq!(done["state"], "done", "{done}");
    let told = mcp.request("tasks/get", json!({"taskId": task})).await;
    assert_eq!(told["result"]["status"], "completed", "{told:#}");
    assert_eq!(told["result"]["result"]["content"], done["result"]["content"]);

    // One that its own client ends is seen to have ended.
    let task = task_id(&mcp.call("rmcp_endure", json!({})).await["result"]);
    mcp.request("tasks/cancel", json!({"taskId": task})).await;
    let id = listed(&mut ada).await.pop().unwrap()["executionId"].as_str().unwrap().to_owned();
    assert_eq!(ada.reaches(&id, &["cancelled"]).await["taskId"], json!(task));
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_s05_an_execution_is_a_task_of_its_caller() {
    let (site, keys) = site("as-tasks");
    let mut door = site.open();
    let mut mcp = modern(&door, &keys[0]).await;
    let mut eve = modern(&door, &keys[1]).await;
    let mut ada = Rest::at(&door, Some(&keys[0])).await;
    let id = ada.start("echo_gate", &json!({"text": "x", "path": site.path("never")})).await;
    let task = mcp.request("tasks/get", json!({"taskId": id})).await;
    assert_eq!((&task["result"]["taskId"], &task["result"]["status"]), (&json!(id), &json!("working")));
    let unknown = format!("{}{}", &id[..40], "00000000");
    for method in ["tasks/get", "tasks/cancel"] {
        let foreign = eve.request(method, json!({"taskId": id})).await;
        let none = eve.request(method, json!({"taskId": unknown})).await;
        let told = |message: &Value, id: &str| message["error"].to_string().replace(id, "");
        assert!(foreign["error"].is_object(), "{foreign:#}");
        assert_eq!(told(&foreign, &id), told(&none, &unknown), "both look the same");
    }
    let ended = mcp.request("tasks/cancel", json!({"taskId": id})).await;
    assert!(ended["error"].is_null(), "{ended:#}");
    ada.reaches(&id, &["cancelled"]).await;
    let task = mcp.request("tasks/get", json!({"taskId": id})).await;
    assert_eq!(task["result"]["status"], "cancelled", "{task:#}");

    let id = ada.start("echo_ask", &json!({})).await;
    ada.reaches(&id, &["waiting"]).await;
    let task = mcp.request("tasks/get", json!({"taskId": id})).await;
    assert_eq!(task["result"]["status"], "input_required", "{task:#}");
    let (key, question) = task["result"]["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(
        (&question["method"], &question["params"]["message"]),
        (&json!("elicitation/create"), &json!("Who?"))
    );
    let answers = json!({key: {"action": "accept", "content": {"name": "Ada"}}});
    mcp.request("tasks/update", json!({"taskId": id, "inputResponses": answers})).await;
    let done = ada.reaches(&id, &["done"]).await;
    let task = mcp.request("tasks/get", json!({"taskId": id})).await;
    assert_eq!(task["result"]["status"], "completed", "{task:#}");
    assert_eq!(task["result"]["result"]["content"], done["result"]["content"]);
    mcp.capabilities = json!({});
    let told = mcp.request("tasks/get", json!({"taskId": id})).await;
    assert!(told["error"]["message"].as_str().unwrap().contains("tasks extension"), "{told:#}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_s05_tasks_of_2025_11_25_and_executions_are_the_same() {
    let (site, keys) = site("legacy-tasks");
    let mut door = site.open();
    modern(&door, &keys[0]).await;
    let mut mcp = Caller::open(&door, Some(&keys[0]), LEGACY).await;
    let mut ada = Rest::at(&door, Some(&keys[0])).await;
    let call = |tool: &str| json!({"name": tool, "arguments": {"text": "hi"}, "task": {"ttl": 60_000}});

    // A tool that answers immediately: the task is an execution that has ended.
    let created = mcp.request("tools/call", call("rmcp_echo")).await;
    let ended = task_id(&created["result"]["task"]);
    assert_eq!(created["result"]["task"]["status"], "completed", "{created:#}");
    let shown = body_of(&ada.get(&format!("/mcp/executions/{ended}")).await);
    assert_eq!((&shown["state"], &shown["tool"]), (&json!("done"), &json!("rmcp_echo")), "{shown}");
    let result = mcp.request("tasks/result", json!({"taskId": ended})).await;
    assert_eq!(text(&result).as_deref(), Some("hi"), "{result:#}");
    assert_eq!(shown["result"]["content"], result["result"]["content"]);

    // A tool that the server runs as a task, cancelled on the command line.
    let created = mcp.request("tools/call", call("rmcp_endure")).await;
    let runs = task_id(&created["result"]["task"]);
    let linked = listed(&mut ada).await.pop().unwrap();
    assert_eq!((&linked["taskId"], &linked["state"]), (&json!(runs), &json!("running")), "{linked}");
    let id = linked["executionId"].as_str().unwrap();
    let (binary, url, key, id) = (site.binary(), door.endpoint.clone(), keys[0].clone(), id.to_owned());
    let cancel = tokio::task::spawn_blocking(move || {
        let mut binary = binary;
        binary.args(["executions", "cancel", &id, "--url", &url]).env("TRUNKLINE_KEY", key).output().unwrap()
    });
    let cancelled = cancel.await.unwrap();
    assert_eq!(cancelled.status.code(), Some(0), "{cancelled:?}");
    let told = mcp.request("tasks/get", json!({"taskId": runs})).await;
    assert_eq!(told["result"]["status"], "cancelled", "{told:#}");

    // An execution of REST is listed, waited for and cancelled like any other task.
    let rest = ada.start("echo_gate", &json!({"text": "x", "path": site.path("never")})).await;
    let tasks = mcp.request("tasks/list", json!({})).await;
    let ids: Vec<String> = tasks["result"]["tasks"].as_array().unwrap().iter().map(task_id).collect();
    assert_eq!(ids, [ended.clone(), runs, rest.clone()], "{tasks:#}");
    let told = mcp.request("tasks/cancel", json!({"taskId": rest})).await;
    assert_eq!(told["result"]["status"], "cancelled", "{told:#}");
    ada.reaches(&rest, &["cancelled"]).await;

    let mut eve = Caller::open(&door, Some(&keys[1]), LEGACY).await;
    for id in [&ended, &rest] {
        let told = eve.request("tasks/get", json!({"taskId": id})).await;
        assert_eq!(told["error"]["message"], "there is no such task", "{told:#}");
    }
    assert_eq!(eve.request("tasks/list", json!({})).await["result"]["tasks"], json!([]));
    door.stop().await;

    // An execution that has ended is still there after a restart.
    let mut door = site.open();
    modern(&door, &keys[0]).await;
    let mut mcp = Caller::open(&door, Some(&keys[0]), LEGACY).await;
    let result = mcp.request("tasks/result", json!({"taskId": ended})).await;
    assert_eq!(text(&result).as_deref(), Some("hi"), "{result:#}");
    door.stop().await;
}
