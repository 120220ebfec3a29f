//! The correct answers: a small server of both eras with tools, resources, templates, prompts and
//! completion.

use super::Script;
use serde_json::{Map, Value, json};

pub const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
pub const MODERN: &str = "2026-07-28";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// `Ok` is a result, `Err` an error object.
pub type Answer = Result<Value, Value>;

/// Answers a well-formed request.
pub fn answer(script: &Script, message: &Value) -> Answer {
    let method = message["method"].as_str().unwrap_or_default();
    let params = &message["params"];
    if is_modern(message) && script.speaks("modern") {
        check_meta(params)?;
        let mut result = modern(script, method, params)?;
        add_modern_members(&mut result, method);
        return Ok(result);
    }
    if !script.speaks("legacy") {
        let data = json!({"supported": [MODERN], "requested": params["protocolVersion"]});
        return Err(json!({"code": -32022, "message": "Unsupported protocol version", "data": data}));
    }
    match method {
        "initialize" => Ok(initialize(script, params)),
        "ping" => Ok(json!({})),
        "logging/setLevel" if capabilities(script).get("logging").is_some() => match params["level"].as_str()
        {
            Some(level) if LEVELS.contains(&level) => Ok(json!({})),
            _ => Err(error(-32602, "Unknown level")),
        },
        _ => common(script, method, params, -32002),
    }
}

/// True if a message is of the modern era: `server/discover`, or any message with a modern `_meta`
/// member.
pub fn is_modern(message: &Value) -> bool {
    let meta = &message["params"]["_meta"];
    message["method"] == "server/discover" || meta.get(VERSION).is_some() || meta.get(CAPABILITIES).is_some()
}

/// True if a modern request has the required `_meta` members.
pub fn has_meta(message: &Value) -> bool {
    let meta = &message["params"]["_meta"];
    meta.get(VERSION).is_some() && meta.get(CAPABILITIES).is_some()
}

/// True if no revision defines this notification for clients.
pub fn is_unknown_notification(message: &Value) -> bool {
    const KNOWN: [&str; 4] = [
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/roots/list_changed",
    ];
    message["method"].as_str().is_some_and(|method| !KNOWN.contains(&method))
}

pub fn error(code: i64, message: &str) -> Value {
    json!({"code": code, "message": message})
}

fn check_meta(params: &Value) -> Result<(), Value> {
    let meta = &params["_meta"];
    let Some(version) = meta[VERSION].as_str() else {
        return Err(error(-32602, "protocolVersion is missing"));
    };
    if version != MODERN {
        let data = json!({"supported": [MODERN], "requested": version});
        return Err(json!({"code": -32022, "message": "Unsupported protocol version", "data": data}));
    }
    if meta[CAPABILITIES].is_object() { Ok(()) } else { Err(error(-32602, "clientCapabilities is missing")) }
}

fn modern(script: &Script, method: &str, params: &Value) -> Answer {
    match method {
        "server/discover" => {
            let mut result = json!({"supportedVersions": [MODERN], "capabilities": capabilities(script)});
            if let Some(instructions) = script.offer.get("instructions") {
                result["instructions"] = instructions.clone();
            }
            Ok(result)
        }
        _ => common(script, method, params, -32602),
    }
}

fn initialize(script: &Script, params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let version = if LEGACY.contains(&asked) { asked } else { LEGACY[0] };
    let mut result = json!({
        "protocolVersion": version,
        "capabilities": capabilities(script),
        "serverInfo": {"name": "faulty", "version": "1.0.0"},
    });
    if let Some(instructions) = script.offer.get("instructions") {
        result["instructions"] = instructions.clone();
    }
    result
}

fn common(script: &Script, method: &str, params: &Value, not_found: i64) -> Answer {
    let declared = |name: &str| capabilities(script).get(name).is_some();
    match method {
        "tools/list" if declared("tools") => list(script, "tools", params),
        "resources/list" if declared("resources") => list(script, "resources", params),
        "resources/templates/list" if declared("resources") => list(script, "resourceTemplates", params),
        "prompts/list" if declared("prompts") => list(script, "prompts", params),
        "tools/call" if declared("tools") => call(script, params),
        "resources/read" if declared("resources") => read(script, params, not_found),
        "prompts/get" if declared("prompts") => prompt(script, params),
        "completion/complete" if declared("completions") => complete(script, params),
        _ => Err(error(-32601, "Method not found")),
    }
}

fn list(script: &Script, member: &str, params: &Value) -> Answer {
    match params.get("cursor") {
        None => Ok(json!({member: offer(script, member)})),
        Some(_) => Err(error(-32602, "Invalid cursor")),
    }
}

fn call(script: &Script, params: &Value) -> Answer {
    let name = params["name"].as_str().unwrap_or_default();
    let tools = offer(script, "tools");
    let Some(tool) = tools.as_array().into_iter().flatten().find(|tool| tool["name"] == name) else {
        return Err(error(-32602, "Unknown tool"));
    };
    let arguments = &params["arguments"];
    for required in tool["inputSchema"]["required"].as_array().into_iter().flatten() {
        let property = required.as_str().unwrap_or_default();
        let kind = tool["inputSchema"]["properties"][property]["type"].as_str().unwrap_or_default();
        if !is_of(&arguments[property], kind) {
            let text = format!("`{property}` must be of type {kind}");
            return Ok(json!({"content": [{"type": "text", "text": text}], "isError": true}));
        }
    }
    Ok(match name {
        "add" => {
            let sum =
                arguments["a"].as_i64().unwrap_or(0).saturating_add(arguments["b"].as_i64().unwrap_or(0));
            let text = json!({"sum": sum}).to_string();
            json!({"content": [{"type": "text", "text": text}], "structuredContent": {"sum": sum}})
        }
        _ => json!({"content": [{"type": "text", "text": arguments["text"].as_str().unwrap_or("done")}]}),
    })
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => !value.is_null(),
    }
}

fn read(script: &Script, params: &Value, not_found: i64) -> Answer {
    let uri = params["uri"].as_str().unwrap_or_default();
    let resources = offer(script, "resources");
    let found = resources.as_array().into_iter().flatten().find(|resource| resource["uri"] == uri);
    let Some(resource) = found else { return Err(error(not_found, "Resource not found")) };
    let mime = resource.get("mimeType").cloned().unwrap_or_else(|| json!("text/plain"));
    let text = if mime == "application/json" { "{\"a\":1}" } else { "a short note\n" };
    Ok(json!({"contents": [{"uri": uri, "mimeType": mime, "text": text}]}))
}

fn prompt(script: &Script, params: &Value) -> Answer {
    let name = params["name"].as_str().unwrap_or_default();
    let prompts = offer(script, "prompts");
    let found = prompts.as_array().into_iter().flatten().find(|prompt| prompt["name"] == name);
    let Some(prompt) = found else { return Err(error(-32602, "Unknown prompt")) };
    for argument in prompt["arguments"].as_array().into_iter().flatten() {
        let given = argument["name"].as_str().and_then(|name| params["arguments"].get(name));
        if argument["required"] == true && given.is_none() {
            return Err(error(-32602, "Missing argument"));
        }
    }
    let content = json!({"type": "text", "text": "Summarise the note in one sentence."});
    Ok(json!({"messages": [{"role": "user", "content": content}]}))
}

fn complete(script: &Script, params: &Value) -> Answer {
    let prompts = offer(script, "prompts");
    let known =
        prompts.as_array().into_iter().flatten().any(|prompt| prompt["name"] == params["ref"]["name"]);
    if params["ref"]["type"] == "ref/prompt" && !known {
        return Err(error(-32602, "Unknown prompt"));
    }
    Ok(json!({"completion": {"values": ["alpha", "beta"], "hasMore": false}}))
}

fn capabilities(script: &Script) -> Value {
    let usual = json!({"tools": {}, "resources": {}, "prompts": {}, "completions": {}});
    script.offer.get("capabilities").cloned().unwrap_or(usual)
}

fn offer(script: &Script, member: &str) -> Value {
    script.offer.get(member).cloned().unwrap_or_else(|| usual(member))
}

fn usual(member: &str) -> Value {
    match member {
        "tools" => json!([
            {
                "name": "add",
                "title": "Add two numbers",
                "description": "Adds two whole numbers and returns their sum.",
                "inputSchema": {"type": "object", "properties": {
                    "a": {"type": "integer", "description": "The first number."},
                    "b": {"type": "integer", "description": "The second number."}
                }, "required": ["a", "b"]},
                "outputSchema": {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]},
                "annotations": {"readOnlyHint": true, "openWorldHint": false}
            },
            {
                "name": "echo",
                "title": "Echo a text",
                "description": "Returns the text it was given, unchanged.",
                "inputSchema": {"type": "object", "properties": {
                    "text": {"type": "string", "description": "The text to return."}
                }, "required": ["text"]},
                "annotations": {"readOnlyHint": true, "openWorldHint": false}
            }
        ]),
        "resources" => json!([
            {"uri": "note:///first", "name": "first", "title": "The first note",
             "description": "A short note.", "mimeType": "text/plain"},
            {"uri": "note:///data", "name": "data", "title": "Some data",
             "description": "A small JSON document.", "mimeType": "application/json"}
        ]),
        "resourceTemplates" => json!([
            {"uriTemplate": "note:///{name}", "name": "note", "title": "Any note",
             "description": "The note of that name.", "mimeType": "text/plain"}
        ]),
        "prompts" => json!([
            {"name": "summarise", "title": "Summarise a note", "description": "Asks for a summary of a note.",
             "arguments": [{"name": "note", "description": "The name of the note.", "required": true}]}
        ]),
        _ => Value::Null,
    }
}

/// Adds the members that every modern result has.
pub(super) fn add_modern_members(result: &mut Value, method: &str) {
    let Some(members) = result.as_object_mut() else { return };
    members.entry("resultType").or_insert_with(|| json!("complete"));
    if matches!(
        method,
        "server/discover"
            | "tools/list"
            | "resources/list"
            | "resources/templates/list"
            | "prompts/list"
            | "resources/read"
    ) {
        members.entry("ttlMs").or_insert_with(|| json!(60_000));
        members.entry("cacheScope").or_insert_with(|| json!("private"));
    }
    let meta = members.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
    meta["io.modelcontextprotocol/serverInfo"] = json!({"name": "faulty", "version": "1.0.0"});
}
