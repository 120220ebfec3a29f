//! Generates arguments from a schema: valid ones, ones with one error, and odd ones.

mod odd;
mod rng;

pub(crate) use odd::odd;
pub(crate) use rng::Rng;

use serde_json::{Map, Value, json};

/// Maximum depth of a sample; deeper values are left out or empty.
const MAX_DEPTH: usize = 8;
/// Maximum number of values in a sample; references can multiply them.
const MAX_VALUES: usize = 1_000;

/// The root schema for references, and the remaining number of values.
struct Sampler<'a> {
    root: &'a Value,
    left: usize,
}

/// A value that the schema accepts, considering simple keywords only.
pub(crate) fn sample(schema: &Value) -> Value {
    Sampler { root: schema, left: MAX_VALUES }.build(schema, 0)
}

/// The arguments without one required member each, with that member's name.
pub(crate) fn without_required(schema: &Value, arguments: &Value) -> Vec<(String, Value)> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    required
        .filter_map(Value::as_str)
        .filter_map(|name| {
            let mut lacking = arguments.clone();
            lacking.as_object_mut()?.shift_remove(name)?;
            Some((name.to_owned(), lacking))
        })
        .collect()
}

/// The arguments with one member of a simple type each replaced by a value of another type.
pub(crate) fn ill_typed(schema: &Value, arguments: &Value) -> Vec<(String, Value)> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties
        .filter_map(|(name, property)| {
            let wrong = match property.get("type")?.as_str()? {
                "string" | "number" | "integer" | "boolean" => json!({"trunkline-lint": [1, 2]}),
                "array" | "object" => json!(7),
                _ => return None,
            };
            let mut changed = arguments.clone();
            changed.as_object_mut()?.insert(name.clone(), wrong);
            Some((name.clone(), changed))
        })
        .collect()
}

impl Sampler<'_> {
    fn build(&mut self, schema: &Value, depth: usize) -> Value {
        let Some(left) = self.left.checked_sub(1) else { return Value::Null };
        self.left = left;
        let schema = resolve(self.root, schema);
        for keyword in ["const", "default"] {
            if let Some(value) = schema.get(keyword) {
                return value.clone();
            }
        }
        for keyword in ["examples", "enum"] {
            if let Some(value) = schema.get(keyword).and_then(Value::as_array).and_then(|list| list.first()) {
                return value.clone();
            }
        }
        for keyword in ["oneOf", "anyOf", "allOf"] {
            if let Some(first) = schema.get(keyword).and_then(Value::as_array).and_then(|list| list.first())
                && schema.get("properties").is_none()
                && depth < MAX_DEPTH
            {
                return self.build(first, depth + 1);
            }
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "string" => json!(text(schema)),
            "integer" => json!(whole(schema)),
            "number" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1.5)),
            "boolean" => json!(false),
            _ => Value::Null,
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut members = Map::new();
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if required.contains(&name.as_str()) && depth < MAX_DEPTH {
                members.insert(name.clone(), self.build(property, depth + 1));
            }
        }
        Value::Object(members)
    }

    fn array(&mut self, schema: &Value, depth: usize) -> Value {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(8);
        let item = schema.get("items").filter(|_| depth < MAX_DEPTH);
        let items = (0..least).map(|_| item.map_or(Value::Null, |item| self.build(item, depth + 1)));
        Value::Array(items.collect())
    }
}

fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if schema.get("properties").is_some() => "object",
        _ => "string",
    }
}

fn text(schema: &Value) -> String {
    let fitting = match schema.get("format").and_then(Value::as_str) {
        Some("date") => "2026-07-28",
        Some("date-time") => "2026-07-28T12:00:00Z",
        Some("time") => "12:00:00Z",
        Some("email") => "lint@example.com",
        Some("uri" | "url") => "https://example.com/",
        Some("uuid") => "7f1c2d3e-4b5a-4968-8776-655443322110",
        _ => "sample",
    };
    let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(1024);
    let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let mut text = fitting.to_owned();
    while (text.len() as u64) < least {
        text.push('x');
    }
    text.chars().take(usize::try_from(most).unwrap_or(usize::MAX)).collect()
}

fn whole(schema: &Value) -> i64 {
    let least = schema.get("minimum").and_then(Value::as_f64);
    let above = schema.get("exclusiveMinimum").and_then(Value::as_f64).map(|bound| bound + 1.0);
    let most = schema.get("maximum").and_then(Value::as_f64).unwrap_or(f64::MAX);
    #[expect(clippy::cast_possible_truncation, reason = "a float becomes the nearest integer there is")]
    let value = least.or(above).unwrap_or(1.0).ceil().min(most) as i64;
    value
}

/// Follows a reference inside the schema; ignores external ones.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut at = schema;
    for _ in 0..MAX_DEPTH {
        let Some(pointer) = at.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix('#')) else {
            break;
        };
        let Some(next) = root.pointer(pointer) else { break };
        at = next;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_schema::{Budget, Schema};

    #[test]
    fn j13_a_schema_that_unfolds_gives_a_small_sample() {
        let names: Vec<String> = (0..50).map(|number| number.to_string()).collect();
        let properties: Map<String, Value> =
            names.iter().map(|name| (name.clone(), json!({"$ref": "#"}))).collect();
        let schema = json!({"type": "object", "properties": properties, "required": names});
        assert!(sample(&schema).to_string().len() < 100_000);
        let list = json!({"type": "array", "minItems": 8, "items": {"$ref": "#"}});
        assert!(sample(&list).to_string().len() < 100_000);
    }

    #[test]
    fn a_sample_is_accepted_by_its_schema() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 10},
                "day": {"type": "string", "format": "date"},
                "count": {"type": "integer", "minimum": 3, "maximum": 5},
                "kind": {"enum": ["a", "b"]},
                "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2},
                "inner": {"$ref": "#/$defs/inner"},
                "optional": {"type": "string"}
            },
            "required": ["name", "day", "count", "kind", "tags", "inner"],
            "$defs": {"inner": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}}
        });
        let value = sample(&schema);
        let compiled = Schema::of_its_draft(&schema).unwrap();
        let fits = |value: &Value| compiled.accepts(value, Budget::FULL).unwrap();
        assert!(fits(&value), "{value}");
        assert!(value.get("optional").is_none());
        for (name, lacking) in without_required(&schema, &value) {
            assert!(!fits(&lacking), "{name}");
        }
        for (name, wrong) in ill_typed(&schema, &value) {
            assert!(!fits(&wrong), "{name}");
        }
    }
}
