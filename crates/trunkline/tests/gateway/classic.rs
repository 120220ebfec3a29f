//! Failed tool calls are told apart: by code in results, by number with `errors: "classic"`, and in
//! the audit trail.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    site::Site,
};
use serde_json::{Value, json};
use std::fs;

/// A legacy server whose tool `fails` reports a failure, and whose tool `hangs` never answers.
const SERVER: &str = r#"
import json, sys
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if "id" not in message or method is None:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        info = {"name": "s", "version": "1"}
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "tools/list":
        answer["result"] = {"tools": [{"name": name, "inputSchema": SCHEMA} for name in ("fails", "hangs", "refuses")]}
    elif method == "tools/call" and message["params"]["name"] == "fails":
        answer["result"] = {"content": [{"type": "text", "text": "it broke"}], "isError": True}
    elif method == "tools/call" and message["params"]["name"] == "hangs":
        continue
    else:
        answer["error"] = {"code": -31000, "message": "the server's own error"}
    print(json.dumps(answer), flush=True)
"#;

/// A gateway with this server and the tools for files, with this setting of `errors`.
fn site(errors: &str) -> Site {
    let site = Site::new("classic");
    site.write("server.py", SERVER);
    let mut server = site.local("s", &["python3".to_owned(), "server.py".to_owned()]);
    server["timeout"] = json!({"request": "300ms"});
    server["arguments"] = "checked".into();
    let files = json!({"type": "builtin", "pack": "filesystem", "root": site.folder.path()});
    let servers = json!({"s": server, "files": files});
    site.configure(&json!({"mcp": {"servers": servers}, "errors": errors, "audit": {"directory": "trail"}}));
    site
}

/// The answers to: a failing tool, bad arguments (checked by the gateway and by our own tool), a
/// tool that hangs, an unknown tool, a failure of our own tool, and a server's own error.
async fn answers(site: &Site, revision: &'static str) -> Vec<Value> {
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, revision).await;
    let missing = site.path("missing").display().to_string();
    let mut answers = Vec::new();
    for (tool, arguments) in [
        ("s_fails", json!({})),
        ("s_fails", json!({"n": "x"})),
        ("files_read_file", json!({"path": 7})),
        ("s_hangs", json!({})),
        ("s_nothing", json!({})),
        ("files_read_file", json!({"path": missing})),
        ("s_refuses", json!({})),
    ] {
        answers.push(caller.call(tool, arguments).await);
    }
    door.stop().await;
    site.emptied().await;
    answers
}

/// The outcomes of the tool calls in the audit trail, with their codes.
fn recorded(site: &Site) -> Vec<(String, Value)> {
    let files = fs::read_dir(site.path("trail")).unwrap().map(|entry| entry.unwrap().path());
    let text: String = files.filter_map(|file| fs::read_to_string(file).ok()).collect();
    let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ended = records.filter(|record| record["outcome"].is_string());
    ended.map(|record| (record["outcome"].as_str().unwrap().to_owned(), record["code"].clone())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_default_failures_are_told_apart_by_a_code_in_meta() {
    for revision in [LEGACY, MODERN] {
        let site = site("standard");
        let answers = answers(&site, revision).await;
        let foreign = &answers[0]["result"];
        assert_eq!((&foreign["isError"], &foreign["content"][0]["text"]), (&json!(true), &json!("it broke")));
        assert!(foreign["_meta"]["trunkline/code"].is_null(), "a foreign result is not changed: {foreign}");
        let code = |answer: &Value| answer["result"]["_meta"]["trunkline/code"].clone();
        assert_eq!([1, 2, 5].map(|n| code(&answers[n])), ["E203", "E203", "E301"], "{answers:#?}");
        let app_code = |answer: &Value| answer["error"]["data"]["appCode"].clone();
        assert_eq!([3, 4].map(|n| app_code(&answers[n])), ["E202", "E204"], "{answers:#?}");
        let told = recorded(&site);
        let words = ["tool_error", "invalid", "invalid", "timed_out", "invalid", "tool_error", "failed"];
        let found: Vec<&str> = told.iter().map(|(word, _)| word.as_str()).collect();
        assert!(found.windows(words.len()).any(|some| some == words), "{told:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn classic_errors_have_four_numbers() {
    for revision in [LEGACY, MODERN] {
        let site = site("classic");
        let answers = answers(&site, revision).await;
        let numbers: Vec<i64> =
            answers.iter().map(|answer| answer["error"]["code"].as_i64().unwrap_or(0)).collect();
        assert_eq!(numbers, [-32603, -32602, -32602, -32000, -32601, -32603, -31000], "{answers:#?}");
        assert_eq!(answers[0]["error"]["message"], "it broke");
        assert_eq!(answers[0]["error"]["data"]["appCode"], "E301");
        assert_eq!(answers[0]["error"]["data"]["result"]["content"][0]["text"], "it broke");
        let told = recorded(&site);
        assert!(told.iter().any(|(word, _)| word == "tool_error"), "{told:?}");
    }
}
