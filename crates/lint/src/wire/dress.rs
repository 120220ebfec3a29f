//! Well-formed messages of each era.

use bytes::Bytes;
use serde_json::{Map, Value, json};
use trunkline_protocol::{Era, Revision};

/// How the linter introduces itself.
pub const CLIENT_NAME: &str = "trunkline-lint";

/// The `_meta` members that every modern request carries.
pub fn modern_meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": client_info(),
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn client_info() -> Value {
    json!({"name": CLIENT_NAME, "version": env!("CARGO_PKG_VERSION")})
}

/// A request as this era wants it.
pub fn request(era: Era, id: &Value, method: &str, params: Value) -> Value {
    let params = dressed(era, params);
    let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
    if !params.as_object().is_some_and(Map::is_empty) {
        message["params"] = params;
    }
    message
}

/// A notification as this era wants it.
pub fn notification(era: Era, method: &str, params: Value) -> Value {
    let params = dressed(era, params);
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if !params.as_object().is_some_and(Map::is_empty) {
        message["params"] = params;
    }
    message
}

/// A message as it goes over the wire.
pub fn bytes(message: &Value) -> Bytes {
    Bytes::from(message.to_string())
}

/// What `initialize` says.
pub fn initialize_params(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client_info()})
}

fn dressed(era: Era, params: Value) -> Value {
    let mut params = if params.is_null() { json!({}) } else { params };
    if era == Era::Modern
        && let Some(object) = params.as_object_mut()
    {
        let meta = object.entry("_meta").or_insert_with(|| json!({}));
        if let (Some(meta), Value::Object(needed)) =
            (meta.as_object_mut(), modern_meta(Revision::NEWEST.as_str()))
        {
            for (name, value) in needed {
                meta.entry(name).or_insert(value);
            }
        }
    }
    params
}
