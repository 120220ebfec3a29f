//! `/openapi.json`: the tools that this caller sees, as `OpenAPI` 3.1.

use super::{
    VERSION,
    answer::{RestError, counted},
    listing::{Described, fingerprint, tools},
};
use crate::http::{AdmittedRequest, Body};
use ::http::{Response, StatusCode};
use serde_json::{Map, Value, json};
use std::{fmt::Write as _, sync::LazyLock};
use trunkline_protocol::{Object, Raw};

/// The places of a tool's schemas within its operation.
const INPUT: &str = "requestBody/content/application~1json/schema/properties/params";
const OUTPUT: &str =
    "responses/200/content/application~1json/schema/properties/result/allOf/1/properties/structuredContent";

/// The statuses of an execution other than 200; `common.json` has their descriptions.
const OTHER_ANSWERS: [&str; 15] =
    ["202", "400", "401", "403", "404", "408", "409", "413", "415", "422", "429", "500", "502", "503", "504"];

/// The parts that are the same for every caller.
struct Common {
    /// Operations by their path below `/mcp` and the view.
    paths: Vec<(String, Raw)>,
    components: Raw,
    /// The responses with a status of [`OTHER_ANSWERS`].
    other_answers: Value,
}

static COMMON: LazyLock<Common> = LazyLock::new(|| {
    let text = Raw::parse(include_str!("common.json")).unwrap_or_else(|_| Raw::empty_object());
    let member = |name| text.member(name).unwrap_or_else(Raw::empty_object);
    let paths = member("paths").object().unwrap_or_default();
    let answer = |status: &&str| {
        let response = json!({"$ref": format!("#/components/responses/{status}")});
        ((*status).to_owned(), response)
    };
    Common {
        paths: paths.iter().map(|(path, operations)| (path.to_owned(), operations.clone())).collect(),
        components: member("components"),
        other_answers: OTHER_ANSWERS.iter().map(answer).collect::<Map<_, _>>().into(),
    }
});

pub(super) async fn document(request: &AdmittedRequest) -> Result<Response<Body>, RestError> {
    let tools = tools(request).await.map_err(|fault| RestError::of_fault(&fault))?;
    let document = describe(&request.service.path, &tools);
    Ok(counted(StatusCode::OK, &document)?)
}

/// `below` is the path of a view, or empty.
fn describe(below: &str, tools: &[Described]) -> Raw {
    let base = format!("/mcp{below}");
    let mut paths = Object::new();
    for (path, operations) in &COMMON.paths {
        paths.set(format!("{base}{path}"), operations.clone());
    }
    for tool in tools {
        let path = format!("{base}/tools/{}/execute", encoded(&tool.name));
        let operation = execute_operation(tool, &path);
        paths.set(path, json!({"post": operation}).into());
    }
    let info = json!({
        "title": "Trunkline",
        "version": VERSION,
        "description": "Tools of this server, without MCP. What you see is what you may use.",
    });
    let mut document = Object::new();
    document.set("openapi", Raw::string("3.1.0"));
    document.set("info", info.into());
    document.set("paths", paths.to_raw());
    document.set("components", COMMON.components.clone());
    document.set("security", json!([{}, {"bearer": []}]).into());
    document.to_raw()
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
    let mut responses = COMMON.other_answers.clone();
    responses["200"] = result_response(schema("outputSchema", OUTPUT));
    let needs_params = params["required"].as_array().is_some_and(|required| !required.is_empty());
    let body = json!({
        "type": "object",
        "additionalProperties": false,
        "required": if needs_params { vec!["params"] } else { Vec::new() },
        "properties": {
            "params": params,
            "context": {"$ref": "#/components/schemas/Context"},
            "mode": {"$ref": "#/components/schemas/Mode"},
        },
    });
    let mut operation = json!({
        "operationId": format!("execute_{}", tool.name),
        "summary": text("title").unwrap_or_else(|| tool.name.clone()),
        "description": text("description").unwrap_or_default(),
        "tags": tool.object.member_as::<Vec<String>>("tags").unwrap_or_default(),
        "parameters": [{"$ref": "#/components/parameters/IdempotencyKey"}],
        "requestBody": {"required": true, "content": {"application/json": {"schema": body}}},
        "responses": responses,
    });
    for (name, member) in [("x-server", "server"), ("x-annotations", "annotations")] {
        if let Some(value) = tool.object.member(member).and_then(|raw| raw.decode().ok()) {
            operation[name] = value;
        }
    }
    operation
}

/// The response with a tool's result.
fn result_response(output: Option<Value>) -> Value {
    let mut result = json!({"$ref": "#/components/schemas/Result"});
    if let Some(output) = output {
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
    json!({
        "description": "The tool's result, or its progress and result as events",
        "content": {
            "application/json": {"schema": answer},
            "text/event-stream": {"schema": {"$ref": "#/components/schemas/Event"}},
        },
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_of_the_common_parts_has_its_target() {
        let document: Value = describe("/team", &[]).decode().unwrap();
        assert!(document["paths"]["/mcp/team/executions/{id}"]["delete"].is_object());
        let (mut open, mut seen) = (vec![&document], 0);
        while let Some(value) = open.pop() {
            if let Some(target) = value["$ref"].as_str() {
                assert!(document.pointer(&target[1..]).is_some(), "{target}");
                seen += 1;
            }
            open.extend(value.as_object().into_iter().flat_map(Map::values));
            open.extend(value.as_array().into_iter().flatten());
        }
        assert!(seen > 50, "{seen}");
        for status in OTHER_ANSWERS {
            assert!(document["components"]["responses"][status].is_object(), "{status}");
        }
    }
}
