//! Rewrites a schema generated from a Rust type for clients and models.

use schemars::Schema;
use serde_json::{Map, Value};

/// Keywords whose value is one schema; below: a list of schemas, a map of schemas.
const ONE: [&str; 8] =
    ["items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames"];
const MANY: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const NAMED: [&str; 4] = ["properties", "patternProperties", "$defs", "dependentSchemas"];

/// Formats that JSON Schema does not define; some hosts refuse a schema with one of them.
const RUST_FORMATS: [&str; 14] = [
    "int8", "int16", "int32", "int64", "int128", "int", "uint8", "uint16", "uint32", "uint64", "uint128",
    "uint", "float", "double",
];

/// Removes keywords without information for the client, and null from optional fields.
pub(super) fn tidy(schema: &mut Schema) {
    schema.remove("$schema");
    schema.remove("title");
    if let Some(object) = schema.as_object_mut() {
        tidy_object(object);
    }
}

/// Sets `additionalProperties: false` on objects whose type does not specify it.
pub(super) fn close(schema: &mut Schema) {
    if let Some(object) = schema.as_object_mut() {
        close_object(object, Closing::Allowed);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Closing {
    Allowed,
    /// A subschema of one with its own properties: closing it would forbid the outer properties.
    Partial,
}

fn tidy_object(schema: &mut Map<String, Value>) {
    if schema.get("format").and_then(Value::as_str).is_some_and(|f| RUST_FORMATS.contains(&f)) {
        schema.remove("format");
    }
    let required: Vec<String> = match schema.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(|n| n.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    };
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            if !required.contains(name)
                && let Value::Object(property) = property
            {
                without_null(property);
            }
        }
    }
    each_subschema(schema, &mut |sub, _| tidy_object(sub));
}

/// Removes null from an optional field: it can be absent, so it need not be nullable.
fn without_null(property: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|t| t != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            property.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = property.get_mut("enum") {
        values.retain(|v| !v.is_null());
    }
    if property.get("default").is_some_and(Value::is_null) {
        property.remove("default");
    }
    if let Some(Value::Array(choices)) = property.get_mut("anyOf") {
        choices.retain(|c| c.get("type").is_none_or(|t| t != "null"));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            property.remove("anyOf");
            for (keyword, value) in only {
                property.entry(keyword).or_insert(value);
            }
        }
    }
}

fn close_object(schema: &mut Map<String, Value>, closing: Closing) {
    let whole = !MANY.iter().chain(&["$ref", "if"]).any(|k| schema.contains_key(*k));
    let decided = schema.contains_key("additionalProperties") || schema.contains_key("unevaluatedProperties");
    let object = schema.get("type").is_some_and(|t| t == "object");
    if object && whole && !decided && closing == Closing::Allowed {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
    let own_properties = schema.contains_key("properties");
    each_subschema(schema, &mut |sub, keyword| {
        let part =
            MANY.contains(&keyword) && own_properties || matches!(keyword, "not" | "if" | "then" | "else");
        close_object(sub, if part { Closing::Partial } else { Closing::Allowed });
    });
}

fn each_subschema(schema: &mut Map<String, Value>, visit: &mut dyn FnMut(&mut Map<String, Value>, &str)) {
    for (keyword, value) in schema.iter_mut() {
        let keyword = keyword.as_str();
        match value {
            Value::Object(sub) if ONE.contains(&keyword) => visit(sub, keyword),
            Value::Object(subs) if NAMED.contains(&keyword) => {
                subs.values_mut().filter_map(Value::as_object_mut).for_each(|sub| visit(sub, keyword));
            }
            Value::Array(subs) if MANY.contains(&keyword) => {
                subs.iter_mut().filter_map(Value::as_object_mut).for_each(|sub| visit(sub, keyword));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::schema;
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::{Value, json};

    fn input<T: JsonSchema>() -> Value {
        schema::of_input::<T>().decode().unwrap()
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Mode {
        Fast,
        Slow,
    }

    #[expect(dead_code, reason = "only the schema is looked at")]
    #[derive(Deserialize, JsonSchema)]
    struct Nested {
        deep: bool,
    }

    #[expect(dead_code, reason = "only the schema is looked at")]
    #[derive(Deserialize, JsonSchema)]
    struct Search {
        /// What to look for
        pattern: String,
        limit: Option<u32>,
        mode: Option<Mode>,
        nested: Option<Nested>,
        #[serde(default)]
        tags: Vec<String>,
    }

    #[test]
    fn optional_fields_are_neither_lists_of_types_nor_choices() {
        assert_eq!(
            input::<Search>(),
            json!({
                "type": "object",
                "properties": {
                    "pattern": {"description": "What to look for", "type": "string"},
                    "limit": {"type": "integer", "minimum": 0},
                    "mode": {"type": "string", "enum": ["fast", "slow"]},
                    "nested": {
                        "type": "object", "properties": {"deep": {"type": "boolean"}}, "required": ["deep"],
                        "additionalProperties": false
                    },
                    "tags": {"type": "array", "items": {"type": "string"}, "default": []},
                },
                "required": ["pattern"],
                "additionalProperties": false,
            })
        );
    }

    #[expect(dead_code, reason = "only the schema is looked at")]
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    enum Shape {
        Circle { radius: f64 },
        Square { side: f64 },
    }

    #[expect(dead_code, reason = "only the schema is looked at")]
    #[derive(Deserialize, JsonSchema)]
    struct Flat {
        name: String,
        #[serde(flatten)]
        shape: Shape,
    }

    #[expect(dead_code, reason = "only the schema is looked at")]
    #[derive(Deserialize, JsonSchema)]
    #[schemars(extend("additionalProperties" = true))]
    struct Open {
        name: String,
    }

    #[test]
    fn a_type_may_stay_open_and_a_part_is_never_closed() {
        assert_eq!(input::<Open>()["additionalProperties"], true);
        let checker = schema::Checker::new(&schema::of_input::<Flat>()).unwrap();
        let fits = |value: Value| checker.check(&value).is_ok();
        assert!(fits(json!({"name": "a", "kind": "Circle", "radius": 1.0})));
        assert!(!fits(json!({"name": "a", "kind": "Circle"})));
    }

    #[test]
    fn what_is_no_object_is_wrapped_in_one() {
        let schema: Value = schema::of_output::<Vec<u8>>().decode().unwrap();
        assert_eq!(schema["properties"]["result"]["type"], "array");
        assert_eq!(schema["required"], json!(["result"]));
    }
}
