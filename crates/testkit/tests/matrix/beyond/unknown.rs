//! Unknown members at every depth of a server's lists and results.

use crate::scripted::{Scripted, legacy, result};
use serde::Serialize;
use serde_json::{Value, json};
use trunkline_client::{Client, ConnectOptions};
use trunkline_protocol::{Object, Raw};

fn tool() -> Value {
    json!({
        "name": "strange",
        "title": "Strange",
        "x-vendor": {"deep": [1, {"deeper": 12_345_678_901_234_567_890_u64}]},
        "inputSchema": {"type": "object", "x-order": ["b", "a"], "properties": {"a": {"$ref": "#/$defs/a"}}},
        "outputSchema": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"},
        "annotations": {"readOnlyHint": true, "x-risk": 0.25},
        "icons": [{"src": "data:,", "sizes": ["48x48"], "x-glow": true}],
        "execution": {"taskSupport": "optional", "x-lane": "slow"},
        "_meta": {"example.com/owner": {"team": "matrix"}},
    })
}

fn answer() -> Value {
    json!({
        "content": [
            {"type": "text", "text": "hi", "x-tone": "dry", "annotations": {"audience": ["user"], "x-y": 1}},
            {"type": "resource_link", "uri": "note://a", "name": "a", "size": 7, "x-z": null},
            {"type": "hologram", "data": "…"},
        ],
        "structuredContent": {"sum": 5, "exact": 1.10},
        "isError": false,
        "x-cost": {"tokens": 12},
        "_meta": {"example.com/trace": "1"},
    })
}

fn resource() -> Value {
    json!({"uri": "note://a", "name": "a", "x-shelf": 3, "annotations": {"priority": 0.5, "x-w": "v"}})
}

fn prompt() -> Value {
    json!({"name": "p", "x-kind": "k", "arguments": [{"name": "a", "required": true, "x-hint": "h"}]})
}

fn written<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap()
}

#[tokio::test]
async fn they_reach_the_caller_as_they_were() {
    let server = Scripted::serve(|message| {
        Some(match message["method"].as_str() {
            Some("tools/list") => result(message, json!({"tools": [tool()]})),
            Some("tools/call") => result(message, answer()),
            Some("resources/list") => result(message, json!({"resources": [resource()]})),
            Some("prompts/list") => result(message, json!({"prompts": [prompt()]})),
            _ => return legacy("2025-11-25", message),
        })
    })
    .await;
    let client = Client::connect(&server.target("mcp"), ConnectOptions::default()).await.unwrap();
    assert_eq!(written(&client.tool("strange").await.unwrap()), tool());
    assert_eq!(written(&client.resources().await.unwrap().items), json!([resource()]));
    assert_eq!(written(&client.prompts().await.unwrap().items), json!([prompt()]));
    let mut arguments = Object::new();
    arguments.set("big", Raw::parse("123456789012345678901234567890").unwrap());
    let called = client.call("strange", arguments).await.unwrap();
    assert_eq!(written(&called), answer());
    assert_eq!(called.structured_content.unwrap().as_str(), r#"{"sum":5,"exact":1.1}"#);
    client.close().await;
}
