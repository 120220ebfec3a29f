//! The JSON Schema of the file, generated from the types; defaults come from the built-in layer.

use super::document::Document;
use crate::jsonc;
use parking_lot::Mutex;
use schemars::{JsonSchema as _, generate::SchemaSettings};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Weak};

/// The built-in layer, as JSON text.
pub(crate) const DEFAULTS: &str = include_str!("../defaults.json");

/// Cached only while in use: it is large, and needed only while a configuration is read.
static SCHEMA: Mutex<Weak<Value>> = Mutex::new(Weak::new());

/// The schema, without `$ref`. Callers that use it repeatedly should hold the `Arc`, so that it is
/// built only once.
pub fn schema() -> Arc<Value> {
    let mut kept = SCHEMA.lock();
    kept.upgrade().unwrap_or_else(|| {
        let made = Arc::new(make());
        *kept = Arc::downgrade(&made);
        made
    })
}

/// The published form of the schema.
pub fn schema_json() -> String {
    let mut text = serde_json::to_string_pretty(&*schema()).expect("a JSON value can be written");
    text.push('\n');
    text
}

fn make() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut generator = settings.into_generator();
    let mut schema = Document::json_schema(&mut generator).to_value();
    tidy(&mut schema);
    let defaults = jsonc::parse(DEFAULTS, 0).expect("the built-in layer is sound").to_json();
    describe_defaults(&mut schema, &defaults);
    // Servers have the same options as `defaults`, which also provides their default values.
    if let Some(server) = schema.pointer_mut("/properties/mcp/properties/servers/additionalProperties") {
        describe_defaults(server, &defaults["defaults"]);
    }
    let Value::Object(members) = schema else { unreachable!("a struct's schema is an object") };
    let mut whole = Map::new();
    whole.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    whole.insert("title".to_owned(), json!("trunkline.json"));
    whole.extend(members);
    Value::Object(whole)
}

/// Makes all keys optional, because each layer may omit any, and forbids undeclared keys.
fn tidy(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    for key in ["required", "title", "format", "$schema"] {
        members.remove(key);
    }
    if members.contains_key("properties") && !members.contains_key("additionalProperties") {
        members.insert("additionalProperties".to_owned(), false.into());
    }
    for key in ["items", "additionalProperties"] {
        members.get_mut(key).into_iter().for_each(tidy);
    }
    let properties = members.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flat_map(Map::values_mut).for_each(tidy);
    if let Some(choices) = members.remove("anyOf") {
        merge_null(members, choices);
    }
}

/// Merges the schema of an `Option` of a declared type into the type's schema, plus null.
fn merge_null(members: &mut Map<String, Value>, choices: Value) {
    let Value::Array(choices) = choices else { return };
    for mut choice in choices {
        tidy(&mut choice);
        let Value::Object(choice) = choice else { continue };
        if choice.get("type") == Some(&json!("null")) {
            continue;
        }
        for (key, value) in choice {
            members.entry(key).or_insert(value);
        }
    }
    // An optional enum is omitted rather than written as null.
    members.remove("default");
}

fn describe_defaults(schema: &mut Value, defaults: &Value) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (key, value) in defaults.as_object().into_iter().flatten() {
        let Some(property) = properties.get_mut(key) else { continue };
        let is_table = property.get("properties").is_some() && value.is_object();
        if is_table {
            describe_defaults(property, value);
        } else if let Some(members) = property.as_object_mut() {
            members.insert("default".to_owned(), value.clone());
        }
    }
}
