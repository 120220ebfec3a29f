//! Builds raw messages for code that must see what a [`Client`](crate::Client) repairs or hides:
//! well-formed messages as plain JSON values, and their HTTP headers. It sends nothing. Linter and
//! doctor use it.

use crate::options::ClientInfo;
use http::{HeaderMap, HeaderValue, header};
use serde_json::{Value, json};
use trunkline_protocol::{
    Era, Revision,
    message::meta::{CLIENT_CAPABILITIES, CLIENT_INFO, PROTOCOL_VERSION},
};
use trunkline_transport::headers::{MCP_METHOD, MCP_NAME, MCP_PROTOCOL_VERSION, encode_value};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const JSON_OR_EVENTS: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The `_meta` members that every modern request has.
pub fn modern_meta(client: &ClientInfo, version: &str) -> Value {
    json!({PROTOCOL_VERSION: version, CLIENT_INFO: client.to_json(), CLIENT_CAPABILITIES: {}})
}

/// The parameters of `initialize`.
pub fn initialize_params(client: &ClientInfo, version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client.to_json()})
}

/// A request of a revision. The `_meta` members in `params` are kept.
pub fn request(client: &ClientInfo, revision: Revision, id: &Value, method: &str, params: Value) -> Value {
    with_params(client, revision, json!({"jsonrpc": "2.0", "id": id, "method": method}), params)
}

/// A notification of a revision. The `_meta` members in `params` are kept.
pub fn notification(client: &ClientInfo, revision: Revision, method: &str, params: Value) -> Value {
    with_params(client, revision, json!({"jsonrpc": "2.0", "method": method}), params)
}

/// Adds `params` as the last member, where servers with simple parsers expect them.
fn with_params(client: &ClientInfo, revision: Revision, mut message: Value, params: Value) -> Value {
    let mut params = if params.is_null() { json!({}) } else { params };
    if revision.era() == Era::Modern
        && let Some(object) = params.as_object_mut()
    {
        let meta = object.entry("_meta").or_insert_with(|| json!({}));
        if let (Some(meta), Value::Object(needed)) =
            (meta.as_object_mut(), modern_meta(client, revision.as_str()))
        {
            for (name, value) in needed {
                meta.entry(name).or_insert(value);
            }
        }
    }
    if params != json!({}) {
        message["params"] = params;
    }
    message
}

/// The headers of any POST.
pub fn post_headers() -> HeaderMap {
    HeaderMap::from_iter([(header::CONTENT_TYPE, JSON), (header::ACCEPT, JSON_OR_EVENTS)])
}

/// Adds the headers that a modern message must have, as far as the message determines them.
pub fn add_modern_headers(headers: &mut HeaderMap, message: &Value) {
    if let Some(version) = message["params"]["_meta"][PROTOCOL_VERSION].as_str() {
        headers.insert(MCP_PROTOCOL_VERSION, encode_value(version));
    }
    let Some(method) = message["method"].as_str() else { return };
    headers.insert(MCP_METHOD, encode_value(method));
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return,
    };
    if let Some(name) = message["params"][member].as_str() {
        headers.insert(MCP_NAME, encode_value(name));
    }
}

/// True if the message is a response to any request.
pub fn is_response(message: &Value) -> bool {
    message.get("method").is_none() && (message.get("result").is_some() || message.get("error").is_some())
}
