//! Tools over REST, through the real binary. Tests are named by the requirement's id.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    door::Door,
    site::Site,
    wire::{Answer, Wire},
};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::fs;

pub(crate) const JSON: &str = "Content-Type: application/json\r\n";

pub(crate) struct Rest {
    pub(crate) wire: Wire,
    token: Option<String>,
}

impl Rest {
    pub(crate) async fn at(door: &Door, token: Option<&str>) -> Self {
        Self { wire: Wire::open(&door.address).await.unwrap(), token: token.map(str::to_owned) }
    }

    pub(crate) fn headers(&self, more: &str) -> String {
        let token = self.token.as_ref().map(|token| format!("Authorization: Bearer {token}\r\n"));
        format!("{}{more}", token.unwrap_or_default())
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        let headers = self.headers("");
        self.wire.send(&format!("GET {path}"), &headers, "").await.unwrap()
    }

    pub(crate) async fn execute(&mut self, tool: &str, body: &Value) -> (Answer, Value) {
        let headers = self.headers(JSON);
        let what = format!("POST /mcp/tools/{tool}/execute");
        let answer = self.wire.send(&what, &headers, &body.to_string()).await.unwrap();
        let value = body_of(&answer);
        (answer, value)
    }

    /// Begins an execution whose answer is an event stream.
    pub(crate) async fn stream(&mut self, tool: &str, params: &Value) {
        let headers = self.headers(&format!("{JSON}Accept: text/event-stream\r\n"));
        let what = format!("POST /mcp/tools/{tool}/execute");
        let body = json!({ "params": params }).to_string();
        let answer = self.wire.begin(&what, &headers, &body).await.unwrap();
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    }
}

pub(crate) fn body_of(answer: &Answer) -> Value {
    serde_json::from_str(&answer.text()).unwrap_or_else(|error| panic!("{error}: {}", answer.text()))
}

pub(crate) fn code(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or_else(|| panic!("no error: {body}"))
}

pub(crate) fn echo_site(name: &str) -> Site {
    Site::of(name, |site| json!({"echo": site.echo("echo", "modern")}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_tools_are_listed_described_and_executed() {
    let site = echo_site("rest");
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let listed = rest.get("/mcp/tools").await;
    let (tag, listed) = (listed.header("etag").unwrap().to_owned(), body_of(&listed));
    assert_eq!(listed["version"], "1.0");
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"echo_echo") && names.is_sorted(), "{names:?}");
    let again = rest.wire.send("GET /mcp/tools", &format!("If-None-Match: {tag}\r\n"), "").await.unwrap();
    assert_eq!((again.status, again.text().as_str()), (304, ""));

    let tool = body_of(&rest.get("/mcp/tools/echo_echo").await);
    assert_eq!(tool["inputSchema"]["properties"]["text"]["type"], "string");
    let unknown = rest.get("/mcp/tools/nothing").await;
    assert_eq!((unknown.status, code(&body_of(&unknown))), (404, "TOOL_NOT_FOUND"));

    let context = json!({"sessionId": "s", "userId": "u", "timeout": 5000, "priority": "high"});
    let body = json!({"params": {"text": "gr\u{fc}ezi \u{1f600}"}, "context": context});
    let (answer, body) = rest.execute("echo_echo", &body).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("x-mcp-version"), Some("1.0"));
    assert_eq!(body["success"], true);
    assert_eq!(body["result"]["content"][0]["text"], "gr\u{fc}ezi \u{1f600}");
    let metadata = &body["metadata"];
    assert!(metadata["executionId"].is_string() && metadata["duration"].is_u64(), "{metadata}");
    assert!(metadata["timestamp"].as_str().unwrap().ends_with('Z'), "{metadata}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_lists_are_filtered_and_paged() {
    let site = echo_site("pages");
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let all = body_of(&rest.get("/mcp/tools").await)["tools"].as_array().unwrap().len();
    let (mut names, mut next) = (Vec::new(), String::new());
    loop {
        let page = body_of(&rest.get(&format!("/mcp/tools?limit=3{next}")).await);
        names.extend(page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].to_string()));
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        next = format!("&cursor={cursor}");
    }
    assert_eq!(names.len(), all, "{names:?}");
    let found = body_of(&rest.get("/mcp/tools?q=SO+many+milli").await);
    assert_eq!(found["tools"][0]["name"], "echo_nap");
    let wrong = rest.get("/mcp/tools?limit=0").await;
    assert_eq!((wrong.status, body_of(&wrong)["error"]["details"]["field"].clone()), (400, json!("limit")));
    let wrong = rest.get("/mcp/tools?serch=x").await;
    assert_eq!((wrong.status, code(&body_of(&wrong))), (400, "VALIDATION_ERROR"));
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h2_the_metadata_of_a_tool_is_told_and_filters_lists() {
    let site = echo_site("metadata");
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let nap = body_of(&rest.get("/mcp/tools/echo_nap").await);
    for (member, expected) in [
        ("version", json!("2.1.0")),
        ("author", json!("Ada")),
        ("category", json!("time")),
        ("tags", json!(["slow", "quiet"])),
        ("deprecates", json!(["sleep"])),
        ("custom", json!({"team": "night", "cost": 1.5})),
    ] {
        assert_eq!(nap[member], expected, "{member}: {nap}");
    }
    let found = async |rest: &mut Rest, query: &str| {
        let listed = body_of(&rest.get(&format!("/mcp/tools?{query}")).await);
        let tools = listed["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found(&mut rest, "category=time").await, ["echo_nap"]);
    assert_eq!(found(&mut rest, "tag=quiet").await, ["echo_nap", "echo_pid"]);
    assert_eq!(found(&mut rest, "tag=quiet&tag=slow").await, ["echo_nap"]);
    assert_eq!(found(&mut rest, "tag=quiet&category=machine").await, ["echo_pid"]);
    assert_eq!(found(&mut rest, "category=none").await, [""; 0]);
    let listed = body_of(&rest.get("/mcp/tools?category=time").await);
    assert_eq!(listed["tools"][0], nap, "a list describes a tool as its own page does");
    let document = body_of(&rest.get("/openapi.json").await);
    assert_eq!(document["paths"]["/mcp/tools/echo_nap/execute"]["post"]["tags"], json!(["slow", "quiet"]));
    let plain = body_of(&rest.get("/mcp/tools/echo_echo").await);
    assert!(plain.get("version").is_none() && plain.get("custom").is_none(), "{plain}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h3_every_error_has_its_code_and_status() {
    let site = Site::of("errors", |site| {
        let mut echo = site.echo("echo", "modern");
        echo["arguments"] = "checked".into();
        json!({ "echo": echo })
    });
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let (answer, body) = rest.execute("nothing", &json!({})).await;
    assert_eq!((answer.status, code(&body)), (404, "TOOL_NOT_FOUND"));
    let (answer, body) = rest.execute("echo_echo", &json!({"params": {"text": 7}})).await;
    assert_eq!((answer.status, code(&body)), (400, "VALIDATION_ERROR"), "{body}");
    let details = &body["error"]["details"];
    assert_eq!((&details["field"], &details["provided"]), (&json!("params.text"), &json!(7)), "{body}");
    assert!(details["reason"].as_str().unwrap().contains("string"), "{body}");
    let (answer, body) = rest.execute("echo_echo", &json!({"context": {"priority": "urgent"}})).await;
    assert_eq!((answer.status, code(&body)), (400, "VALIDATION_ERROR"));
    let details = &body["error"]["details"];
    assert_eq!((&details["field"], &details["provided"]), (&json!("context.priority"), &json!("urgent")));
    assert!(details["reason"].as_str().unwrap().contains("normal"));
    let slow = json!({"params": {"ms": 60_000}, "context": {"timeout": 50}});
    let (answer, body) = rest.execute("echo_nap", &slow).await;
    assert_eq!((answer.status, code(&body)), (504, "TIMEOUT_ERROR"));
    assert!(body["metadata"]["executionId"].is_string(), "{body}");
    let text = rest.wire.send("POST /mcp/tools/echo_echo/execute", "Content-Type: text/plain\r\n", "{}");
    let text = text.await.unwrap();
    assert_eq!((text.status, code(&body_of(&text))), (415, "VALIDATION_ERROR"));
    let wrong = rest.wire.send("PUT /mcp/tools/echo_echo/execute", JSON, "{}").await.unwrap();
    assert_eq!((wrong.status, wrong.header("allow")), (405, Some("POST")));
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h3_an_argument_that_does_not_fit_is_named_with_its_reason_and_value() {
    let site = Site::of("fields", |site| {
        let root = site.path("root");
        fs::create_dir_all(&root).unwrap();
        json!({"files": {"type": "builtin", "pack": "filesystem", "root": root}})
    });
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let tool = body_of(&rest.get("/mcp/tools/files_read_file").await);
    assert!(tool["inputSchema"]["required"].as_array().unwrap().contains(&json!("path")), "{tool}");
    for (params, field, reason, provided) in [
        (json!({}), "params.path", "is required", json!(null)),
        (json!({"path": 7}), "params.path", "string", json!(7)),
        (json!({"path": "a", "pth": true}), "params.pth", "is not a known field", json!(true)),
    ] {
        let (answer, body) = rest.execute("files_read_file", &json!({ "params": params })).await;
        assert_eq!((answer.status, code(&body)), (400, "VALIDATION_ERROR"), "{body}");
        let details = &body["error"]["details"];
        assert_eq!((&details["field"], &details["provided"]), (&json!(field), &provided), "{body}");
        assert!(details["reason"].as_str().unwrap().contains(reason), "{body}");
    }
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h4_progress_arrives_before_the_tool_ends() {
    let site = echo_site("stream");
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    rest.stream("echo_echo", &json!({"text": "hi", "steps": 3})).await;
    for step in 1..=3 {
        let event: Value = serde_json::from_str(&rest.wire.event().await).unwrap();
        assert_eq!(event, json!({"progress": step, "message": "hi"}));
    }
    let result: Value = serde_json::from_str(&rest.wire.event().await).unwrap();
    assert_eq!(result["result"]["content"][0]["text"], "hi");
    // A call that waits at its gate streams nothing; without the file it would wait for ever.
    let gate = site.path("gate");
    let mut rest = Rest::at(&door, None).await;
    rest.stream("echo_gate", &json!({"text": "through", "path": gate})).await;
    fs::write(&gate, "").unwrap();
    let result: Value = serde_json::from_str(&rest.wire.event().await).unwrap();
    assert_eq!(result["success"], true);
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h5_credentials_and_permissions_are_those_of_mcp() {
    let site = Site::new("rest-roles");
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern"), "secret": site.echo("secret", "modern")}},
        "roles": {"guest": {"allow": ["echo_*"], "deny": ["echo_pid"]}},
        "auth": {"keys": site.path("keys.json")},
    }));
    let keys = site.keys(&[("guest", &["guest"])]);
    let mut door = site.open();
    let mut nobody = Rest::at(&door, None).await;
    let refused = nobody.get("/mcp/tools").await;
    assert_eq!((refused.status, code(&body_of(&refused))), (401, "PERMISSION_ERROR"));
    assert!(refused.header("www-authenticate").is_some());
    let mut guest = Rest::at(&door, Some(&keys[0].token)).await;
    let tools = guest.get("/mcp/tools").await.text();
    assert!(
        tools.contains("echo_nap") && !tools.contains("echo_pid") && !tools.contains("secret"),
        "{tools}"
    );
    let mut answers = Vec::new();
    for tool in ["echo_pid", "secret_pid", "nothing"] {
        let (answer, body) = guest.execute(tool, &json!({})).await;
        answers.push((answer.status, code(&body).to_owned()));
    }
    assert_eq!(answers, vec![(404, "TOOL_NOT_FOUND".to_owned()); 3], "denied is like unknown");
    for path in ["/mcp/server/secret/tools", "/mcp/server/nowhere/tools"] {
        assert_eq!(guest.get(path).await.status, 404, "{path}");
    }
    let own = body_of(&guest.get("/mcp/server/echo/tools").await);
    assert!(own["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "nap"), "{own}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h6_l04_places_are_bounded_and_always_free_again() {
    let site = Site::new("places");
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "limits": {"executions": 2, "executionQueue": 1},
    }));
    let mut door = site.open();
    let gate = site.path("gate");
    let wait = json!({"text": "x", "path": gate});
    let mut running = Vec::new();
    for _ in 0..2 {
        let mut rest = Rest::at(&door, None).await;
        rest.stream("echo_gate", &wait).await;
        running.push(rest);
    }
    // One waits until its own limit passes; while it waits, a further one is refused at once. The
    // further one may come first; then the one that shall wait tries again.
    let queued = async {
        let mut rest = Rest::at(&door, None).await;
        loop {
            let wait = json!({"params": {"text": "x"}, "context": {"timeout": 3000}});
            let (answer, body) = rest.execute("echo_echo", &wait).await;
            if code(&body) != "RATE_LIMIT_ERROR" {
                return (answer, body);
            }
        }
    };
    let refused = async {
        loop {
            let mut rest = Rest::at(&door, None).await;
            let (answer, body) =
                rest.execute("echo_echo", &json!({"params": {"text": "x"}, "context": {"timeout": 1}})).await;
            if code(&body) == "RATE_LIMIT_ERROR" {
                return answer;
            }
        }
    };
    let ((late, body), refused) = tokio::join!(queued, refused);
    assert_eq!((late.status, code(&body)), (504, "TIMEOUT_ERROR"));
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    // A dropped stream cancels its call, and its place is free again.
    running.clear();
    let calls = (0..2).map(|_| async {
        let mut rest = Rest::at(&door, None).await;
        rest.execute("echo_echo", &json!({"params": {"text": "x"}})).await.0.status
    });
    assert_eq!(join_all(calls).await, [200, 200]);
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h7_an_unsupported_version_is_refused() {
    let site = echo_site("version");
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    for (version, status) in [("1.0", 200), ("2025-06-18", 200), ("9.9", 400)] {
        let headers = format!("X-MCP-Version: {version}\r\nX-Request-ID: r-1\r\n");
        let answer = rest.wire.send("GET /mcp/tools", &headers, "").await.unwrap();
        assert_eq!(answer.status, status, "{version}: {}", answer.text());
        assert_eq!(answer.header("x-request-id"), Some("r-1"));
    }
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_call_gives_the_same_result_over_rest_and_mcp() {
    let site = echo_site("same");
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let (_, over_rest) = rest.execute("echo_echo", &json!({"params": {"text": "one"}})).await;
    for revision in [LEGACY, MODERN] {
        let mut caller = Caller::at(&door, "/mcp", None, revision).await;
        let over_mcp = caller.call("echo_echo", json!({"text": "one"})).await;
        assert_eq!(over_mcp["result"]["content"], over_rest["result"]["content"], "{revision}");
    }
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn openapi_describes_what_the_caller_may_use() {
    let site = echo_site("openapi");
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let document = body_of(&rest.get("/openapi.json").await);
    assert_eq!(document["openapi"], "3.1.0");
    let operation = &document["paths"]["/mcp/tools/echo_nap/execute"]["post"];
    let params = &operation["requestBody"]["content"]["application/json"]["schema"]["properties"]["params"];
    assert_eq!(params["properties"]["ms"]["type"], "integer");
    let below = body_of(&rest.get("/mcp/server/echo/openapi.json").await);
    assert!(below["paths"]["/mcp/server/echo/tools/nap/execute"].is_object(), "{below}");
    door.stop().await;
}
