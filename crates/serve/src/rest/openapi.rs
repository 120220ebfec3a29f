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
        paths.insert(path, json!({"post": execute_operation(tool)}));
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

fn execute_operation(tool: &Described) -> Value {
    let text = |member: &str| tool.object.member_as::<String>(member);
    let schema = |member: &str| tool.object.member(member).map(|raw| standalone(&raw));
    let params = schema("inputSchema").unwrap_or_else(|| json!({"type": "object"}));
    let mut result = json!({"$ref": "#/components/schemas/Result"});
    if let Some(output) = schema("outputSchema") {
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
    let body = json!({
        "type": "object",
        "additionalProperties": false,
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
    for (name, member) in [("x-server", "server"), ("x-annotations", "annotations")] {
        if let Some(value) = tool.object.member(member).and_then(|raw| raw.decode().ok()) {
            operation[name] = value;
        }
    }
    operation
}

/// A schema as a document of its own: references inside it would point into this document.
fn standalone(schema: &Raw) -> Value {
    let value: Value = schema.decode().unwrap_or_else(|_| json!({}));
    let refers = schema.as_str().contains("\"$ref\"") || schema.as_str().contains("\"$dynamicRef\"");
    match value {
        // `$id` makes it the base of its own references.
        Value::Object(mut members) if refers && !members.contains_key("$id") => {
            members.insert("$id".to_owned(), json!(format!("urn:trunkline:{:016x}", fingerprint(schema))));
            Value::Object(members)
        }
        other => other,
    }
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
        "responses": responses(&json!({
            "description": "The tools, by name",
            "content": {"application/json": {"schema": answer}},
        })),
    })
}

fn describe_operation() -> Value {
    json!({
        "operationId": "describeTool",
        "summary": "One tool, with its schemas",
        "parameters": [{"name": "name", "in": "path", "required": true, "schema": {"type": "string"}}],
        "responses": responses(&json!({
            "description": "The tool",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tool"}}},
        })),
    })
}

fn responses(success: &Value) -> Value {
    json!({
        "200": success,
        "304": {"description": "You have it already (`If-None-Match`)"},
        "default": {
            "description": "An error",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}},
        },
    })
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
