//! `/openapi.json`: the tools that this caller sees, as `OpenAPI` 3.1.

use super::{
    VERSION,
    listing::{Described, fingerprint, tools},
};
use crate::http::{AdmittedRequest, Body, json as respond};
use ::http::{Response, StatusCode};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use trunkline_protocol::{Fault, Raw};

/// The places of a tool's schemas within its operation.
const INPUT: &str = "requestBody/content/application~1json/schema/properties/params";
const OUTPUT: &str =
    "responses/200/content/application~1json/schema/properties/result/allOf/1/properties/structuredContent";

/// The answers to every request that are no success.
const FAILURES: [(&str, &str); 6] = [
    ("400", "The request is not valid"),
    ("401", "Credentials are missing"),
    ("403", "Credentials do not suffice, or a hook denied the call"),
    ("404", "There is nothing here, or you may not use it"),
    ("429", "Too many requests; see `Retry-After`"),
    ("503", "Too much is under way, or the tool's server is not available"),
];
/// Further ones of an execution.
const EXECUTION_FAILURES: [(&str, &str); 7] = [
    ("408", "The body did not arrive in time"),
    ("409", "The call was cancelled"),
    ("413", "The body is too large"),
    ("415", "The body is no JSON"),
    ("422", "The tool failed"),
    ("502", "The tool's server failed"),
    ("504", "The time limit passed"),
];

pub(super) async fn document(request: &AdmittedRequest) -> Result<Response<Body>, Fault> {
    let tools = tools(request).await?;
    let text = describe(&request.service.path, &tools).to_string();
    Ok(respond(StatusCode::OK, text.into()))
}

/// `below` is the path of a view, or empty.
fn describe(below: &str, tools: &[Described]) -> Value {
    let base = format!("/mcp{below}");
    let mut paths = Map::new();
    paths.insert(format!("{base}/tools"), json!({"get": list_operation()}));
    paths.insert(format!("{base}/tools/{{name}}"), json!({"get": describe_operation()}));
    for tool in tools {
        let path = format!("{base}/tools/{}/execute", encoded(&tool.name));
        let operation = execute_operation(tool, &path);
        paths.insert(path, json!({"post": operation}));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Trunkline",
            "version": VERSION,
            "description": "Tools of this server, without MCP. What you see is what you may use.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas(),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"bearer": []}],
    })
}

fn execute_operation(tool: &Described, path: &str) -> Value {
    let text = |member: &str| tool.object.member_as::<String>(member);
    let schema = |member: &str, below: &str| {
        // A pointer in a fragment: its own escapes first, then those of URIs.
        let path = path.replace('~', "~0").replace('/', "~1").replace('%', "%25");
        let at = format!("#/paths/{path}/post/{below}");
        tool.object.member(member).map(|raw| placed(&raw, &at))
    };
    let params = schema("inputSchema", INPUT).unwrap_or_else(|| json!({"type": "object"}));
    let mut result = json!({"$ref": "#/components/schemas/Result"});
    if let Some(output) = schema("outputSchema", OUTPUT) {
        result = json!({"allOf": [result, {"properties": {"structuredContent": output}}]});
    }
    let answer = json!({
        "type": "object",
        "required": ["success", "result", "metadata"],
        "properties": {
            "success": {"const": true},
            "result": result,
            "metadata": {"$ref": "#/components/schemas/Metadata"},
        },
    });
    let needs_params = params["required"].as_array().is_some_and(|required| !required.is_empty());
    let body = json!({
        "type": "object",
        "additionalProperties": false,
        "required": if needs_params { vec!["params"] } else { Vec::new() },
        "properties": {"params": params, "context": {"$ref": "#/components/schemas/Context"}},
    });
    let mut operation = json!({
        "operationId": format!("execute_{}", tool.name),
        "summary": text("title").unwrap_or_else(|| tool.name.clone()),
        "description": text("description").unwrap_or_default(),
        "tags": tool.object.member_as::<Vec<String>>("tags").unwrap_or_default(),
        "requestBody": {"required": true, "content": {"application/json": {"schema": body}}},
        "responses": responses(&json!({
            "description": "The tool's result, or its progress and result as events",
            "content": {
                "application/json": {"schema": answer},
                "text/event-stream": {"schema": {"type": "string"}},
            },
        })),
    });
    add_failures(&mut operation["responses"], &EXECUTION_FAILURES);
    for (name, member) in [("x-server", "server"), ("x-annotations", "annotations")] {
        if let Some(value) = tool.object.member(member).and_then(|raw| raw.decode().ok()) {
            operation[name] = value;
        }
    }
    operation
}

/// A schema of a tool at the place `at` of this document. References inside it are relative to the
/// schema, and would otherwise point into the document.
fn placed(schema: &Raw, at: &str) -> Value {
    let mut value: Value = schema.decode().unwrap_or_else(|_| json!({}));
    let text = schema.as_str();
    let has_own_base = ["\"$id\"", "\"$anchor\"", "\"$dynamicRef\""].iter().any(|word| text.contains(word));
    if !has_own_base {
        rebase(&mut value, at);
    } else if let Value::Object(members) = &mut value {
        // With an `$id` it is the base of its own references.
        let id = json!(format!("urn:trunkline:{:016x}", fingerprint(schema)));
        members.entry("$id").or_insert(id);
    }
    value
}

/// Makes pointers into a schema pointers into the document that has it at `at`.
fn rebase(value: &mut Value, at: &str) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get_mut("$ref")
                && let Some(pointer) = target.strip_prefix('#')
            {
                *target = format!("{at}{pointer}");
            }
            members.values_mut().for_each(|member| rebase(member, at));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rebase(item, at)),
        _ => {}
    }
}

/// The answer to a request with the `ETag` of the current answer.
fn with_not_modified(mut responses: Value) -> Value {
    responses["304"] = json!({"description": "You have it already (`If-None-Match`)"});
    responses
}

fn list_operation() -> Value {
    let parameter = |name: &str, schema: Value, text: &str| json!({"name": name, "in": "query", "schema": schema, "description": text});
    let answer = json!({
        "type": "object",
        "required": ["version", "tools"],
        "properties": {
            "version": {"type": "string"},
            "tools": {"type": "array", "items": {"$ref": "#/components/schemas/Tool"}},
            "nextCursor": {"type": "string"},
        },
    });
    json!({
        "operationId": "listTools",
        "summary": "The tools that you may use",
        "parameters": [
            parameter("server", json!({"type": "string"}), "Only tools of this server"),
            parameter("category", json!({"type": "string"}), "Only tools of this category"),
            parameter("tag", json!({"type": "array", "items": {"type": "string"}}), "Only tools with these tags"),
            parameter("q", json!({"type": "string"}), "Only tools whose name, title or description has this text"),
            parameter("limit", json!({"type": "integer", "minimum": 1, "maximum": 1000}), "Tools in one answer"),
            parameter("cursor", json!({"type": "string"}), "`nextCursor` of the answer before"),
        ],
        "responses": with_not_modified(responses(&json!({
            "description": "The tools, by name",
            "content": {"application/json": {"schema": answer}},
        }))),
    })
}

fn describe_operation() -> Value {
    json!({
        "operationId": "describeTool",
        "summary": "One tool, with its schemas",
        "parameters": [{"name": "name", "in": "path", "required": true, "schema": {"type": "string"}}],
        "responses": with_not_modified(responses(&json!({
            "description": "The tool",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tool"}}},
        }))),
    })
}

/// The success and the usual failures.
fn responses(success: &Value) -> Value {
    let mut responses = json!({"200": success});
    add_failures(&mut responses, &FAILURES);
    responses
}

fn add_failures(responses: &mut Value, failures: &[(&str, &str)]) {
    for (status, description) in failures {
        responses[*status] = json!({
            "description": description,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}},
        });
    }
}

fn schemas() -> Value {
    json!({
        "Tool": {
            "type": "object",
            "required": ["name", "inputSchema"],
            "properties": {
                "name": {"type": "string"},
                "title": {"type": "string"},
                "description": {"type": "string"},
                "inputSchema": {"type": "object"},
                "outputSchema": {"type": "object"},
                "server": {"type": "string", "description": "The configured server that has it"},
                "version": {"type": "string"},
                "author": {"type": "string"},
                "category": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "deprecates": {"type": "array", "items": {"type": "string"}},
                "custom": {"type": "object"},
            },
        },
        "Context": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "sessionId": {"type": "string"},
                "userId": {"type": "string"},
                "timeout": {"type": "integer", "minimum": 1, "description": "Milliseconds"},
                "priority": {"enum": ["low", "normal", "high"]},
            },
        },
        "Result": {
            "type": "object",
            "properties": {"content": {"type": "array", "items": {"type": "object"}}},
        },
        "Metadata": {
            "type": "object",
            "required": ["executionId", "duration", "timestamp"],
            "properties": {
                "executionId": {"type": "string"},
                "duration": {"type": "integer", "description": "Milliseconds"},
                "timestamp": {"type": "string", "format": "date-time"},
            },
        },
        "Failure": failure(),
    })
}

fn failure() -> Value {
    json!({
        "type": "object",
        "required": ["success", "error"],
        "properties": {
            "success": {"const": false},
            "error": {
                "type": "object",
                "required": ["code", "message", "details"],
                "properties": {
                    "code": {"enum": [
                        "TOOL_NOT_FOUND", "VALIDATION_ERROR", "EXECUTION_ERROR",
                        "TIMEOUT_ERROR", "PERMISSION_ERROR", "RATE_LIMIT_ERROR",
                    ]},
                    "message": {"type": "string"},
                    "details": {"type": "object"},
                },
            },
            "metadata": {"$ref": "#/components/schemas/Metadata"},
        },
    })
}

/// A name as one part of a path.
fn encoded(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _infallible = write!(text, "%{byte:02X}");
        }
    }
    text
}
