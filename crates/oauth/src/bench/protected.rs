//! The protected MCP server of the bench. Its tool `whoami` tells the user of the token.

use super::{
    Failure,
    http_server::{Asked, json, text, with_header},
    state::{Grant, LogLine, State},
};
use bytes::Bytes;
use http::{Response, StatusCode, header};
use serde_json::{Value, json};

const METADATA: &str = "/.well-known/oauth-protected-resource";
/// Size of a challenge that is meant to hurt.
const HUGE: usize = 64 * 1024;

pub(super) fn answer(state: &State, asked: &Asked) -> Response<Bytes> {
    let message = asked.json();
    let grant = bearer(asked)
        .and_then(|token| state.access(token))
        .filter(|grant| grant.resource == state.resource());
    let user = grant.as_ref().map(|grant| grant.user.clone());
    let response = match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", path) if path == METADATA || path == format!("{METADATA}/mcp") => metadata(state),
        (_, "/mcp") => protected(state, asked, grant.as_ref(), &message),
        _ => text(StatusCode::NOT_FOUND, "text/plain", "not found"),
    };
    state.note(LogLine {
        server: "mcp",
        method: message["method"].as_str().map_or_else(|| asked.method.clone(), str::to_owned),
        path: asked.path.clone(),
        grant: None,
        user,
        detail: message["params"]["arguments"].as_object().map(|arguments| json!(arguments).to_string()),
        status: response.status().as_u16(),
    });
    response
}

fn metadata(state: &State) -> Response<Bytes> {
    if state.has(Failure::NoMetadata) {
        return text(StatusCode::NOT_FOUND, "text/plain", "not found");
    }
    let mut document = json!({
        "resource": state.resource(),
        "authorization_servers": [state.issuer()],
        "scopes_supported": ["read"],
        "bearer_methods_supported": ["header"],
    });
    for (failure, member, value) in [
        (Failure::OtherResource, "resource", json!("https://other.example/mcp")),
        (Failure::ResourceList, "resource", json!([state.resource()])),
        (Failure::NoAuthorizationServer, "authorization_servers", json!([])),
        (Failure::Moved, "authorization_servers", json!(["http://localhost:1/evil"])),
    ] {
        if state.has(failure) {
            document[member] = value;
        }
    }
    json(StatusCode::OK, &document)
}

fn protected(state: &State, asked: &Asked, grant: Option<&Grant>, message: &Value) -> Response<Bytes> {
    let Some(grant) = grant.filter(|_| !state.has(Failure::TokenRejected)) else {
        return challenge(state, StatusCode::UNAUTHORIZED, "invalid_token", "read");
    };
    if asked.method != "POST" {
        return text(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "POST only");
    }
    let scopes: Vec<&str> = grant.scope.split(' ').collect();
    let wants_admin = message["params"]["name"] == "admin" && !scopes.contains(&"admin");
    if state.has(Failure::ScopeLoop) || wants_admin {
        return challenge(state, StatusCode::FORBIDDEN, "insufficient_scope", "read admin");
    }
    let Some(id) = message.get("id") else { return text(StatusCode::ACCEPTED, "application/json", "") };
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "bench", "version": "1"},
        }),
        "ping" => json!({}),
        "tools/list" => {
            json!({"tools": [tool("whoami"), tool("admin"), tool(&format!("only_{}", grant.user))]})
        }
        "tools/call" => json!({"content": [{"type": "text", "text": grant.user}]}),
        _ => {
            let error = json!({"code": -32601, "message": "unknown method"});
            return json(StatusCode::OK, &json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
    };
    json(StatusCode::OK, &json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn tool(name: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"note": {"type": "string"}}});
    json!({"name": name, "description": "tells the user of the token", "inputSchema": schema,
        "annotations": {"readOnlyHint": true}})
}

fn challenge(state: &State, status: StatusCode, error: &str, scope: &str) -> Response<Bytes> {
    let refusal = json(status, &json!({"error": error}));
    if state.has(Failure::NoChallenge) {
        return refusal;
    }
    let mut value = format!(
        "Bearer error=\"{error}\", scope=\"{scope}\", resource_metadata=\"{}{METADATA}/mcp\"",
        state.resource_origin()
    );
    if state.has(Failure::HugeChallenge) {
        value.push_str(", padding=\"");
        value.push_str(&"x".repeat(HUGE));
        value.push('"');
    }
    with_header(refusal, header::WWW_AUTHENTICATE, &value)
}

fn bearer(asked: &Asked) -> Option<&str> {
    asked.authorization.as_deref()?.strip_prefix("Bearer ")
}
