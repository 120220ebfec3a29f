//! Arguments of tools: a tool is called if and only if they match its schema, and receives them
//! unchanged.
//!
//! Most arguments are checked by a fast path; the full validator is the reference.

use serde_json::{Value, json};
use std::{cell::LazyCell, sync::LazyLock};
use tokio::runtime::Runtime;
use trunkline_protocol::{Handler as _, Part, Raw, message::CallToolResult};
use trunkline_toolbox::{Tool, Toolbox, Trial};

static SCHEMAS: LazyLock<[Value; 3]> = LazyLock::new(|| {
    let plain = json!({
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "number": {"type": "number"},
            "integer": {"type": "integer"},
            "natural": {"type": "integer", "minimum": 0},
            "truth": {"type": "boolean"}
        },
        "required": ["text"],
        "additionalProperties": false
    });
    let rich = json!({
        "type": "object",
        "properties": {
            "choice": {"enum": ["a", 1, null]},
            "pattern": {"type": "string", "pattern": "^(a|b)*c$", "maxLength": 20},
            "list": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"$ref": "#"}]}, "uniqueItems": true},
            "multiple": {"type": "number", "multipleOf": 0.5}
        }
    });
    let nested = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 3},
            "kind": {"enum": ["a", "b", null]},
            "size": {"type": "number", "exclusiveMinimum": 0, "maximum": 9.5},
            "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "list": {"type": "array", "maxItems": 3, "items": {"type": ["boolean", "string"]}},
            "more": {"type": "object", "required": ["x"], "properties": {"x": {}}, "additionalProperties": {"type": "integer"}}
        },
        "required": ["kind"]
    });
    [plain, rich, nested]
});

/// A toolbox with one tool per schema, and the reference validators.
struct Bench {
    runtime: Runtime,
    toolbox: Toolbox,
    trial: Trial,
    validators: [jsonschema::Validator; 3],
}

pub fn holds(data: &[u8]) {
    thread_local! {
        static BENCH: LazyCell<Bench> = LazyCell::new(Bench::new);
    }
    let Ok(arguments) = Raw::parse(data.to_vec()) else { return };
    BENCH.with(|bench| (0..SCHEMAS.len()).for_each(|tool| bench.judges(tool, &arguments)));
}

impl Bench {
    fn new() -> Self {
        let echo = |tool: usize| {
            Tool::dynamic(tool.to_string(), SCHEMAS[tool].clone().into(), |_, arguments| async move {
                arguments.to_string()
            })
        };
        let toolbox = Toolbox::new("fuzz", "1")
            .tool(echo(0))
            .tool(echo(1))
            .tool(echo(2))
            .build()
            .expect("sound schemas");
        let validator = |schema| jsonschema::draft202012::new(schema).expect("a sound schema");
        Self {
            runtime: tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime"),
            trial: toolbox.test(),
            toolbox,
            validators: SCHEMAS.each_ref().map(validator),
        }
    }

    fn judges(&self, tool: usize, arguments: &Raw) {
        let given = self.call(tool, arguments);
        // Skip values that `serde_json` cannot represent, such as huge numbers.
        let Ok(mut value) = arguments.decode::<Value>() else { return };
        if value.is_null() {
            value = json!({});
        }
        let dropped = drop_nulls(&mut value, &SCHEMAS[tool]);
        assert_eq!(given.is_some(), self.validators[tool].is_valid(&value), "{arguments}");
        if let Some(given) = given {
            assert_eq!(serde_json::from_str::<Value>(&given).ok().as_ref(), Some(&value));
            assert!(dropped || arguments.is_null() || given == arguments.as_str(), "{given}");
        }
    }

    /// Returns the arguments that the tool received; `None` if it was not called.
    fn call(&self, tool: usize, arguments: &Raw) -> Option<String> {
        let mut call = self.trial.request("tools/call", json!({"name": tool.to_string()}));
        call.params = call.params.and_then(|params| params.with("arguments", arguments));
        let outcome = self.runtime.block_on(async {
            let mut reply = self.toolbox.call(call);
            loop {
                match reply.next().await {
                    Some(Part::Final(outcome)) => return outcome,
                    Some(_) => {}
                    None => panic!("a call without an end"),
                }
            }
        });
        let result: CallToolResult = outcome.ok()?.decode().expect("a result of ours");
        let text = result.to_raw().member("content")?.decode::<Vec<Value>>().ok()?.first()?["text"]
            .as_str()?
            .to_owned();
        (!result.failed()).then_some(text)
    }
}

/// Removes nulls that mean "absent"; true if there were any.
fn drop_nulls(value: &mut Value, schema: &Value) -> bool {
    let Some(members) = value.as_object_mut() else { return false };
    let before = members.len();
    members.retain(|name, value| {
        let typed = schema["properties"][name]["type"].is_string();
        let required = schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        !value.is_null() || !typed || required
    });
    members.len() < before
}
