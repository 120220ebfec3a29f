//! JSON Schemas: made from types, shaped so that every host understands them, and checked against.
//!
//! A schema of arguments is closed (`additionalProperties: false`) unless its type says otherwise, says nothing that only
//! Rust cares about (`uint32`), and writes an optional field as one that may be left out rather than one that may be null.

mod checker;
mod shape;

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde_json::{Value, json};
use trunkline_protocol::Raw;

pub use checker::BadSchema;
pub(crate) use checker::{Checker, Complaint, MAX_ELEMENTS, count_elements};

/// The schema of a tool's arguments.
pub(crate) fn of_input<T: JsonSchema>() -> Raw {
    let mut settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    shape::tidy(&mut schema);
    shape::close(&mut schema);
    // What the type is for is told to people who read its source; what the tool is for stands beside the schema.
    schema.remove("description");
    Value::from(schema).into()
}

/// The schema of a tool without arguments.
pub(crate) fn of_nothing() -> Raw {
    json!({"type": "object", "additionalProperties": false}).into()
}

/// The schema of structured content. What is not an object stands below `result`, because older revisions know objects only.
pub fn of_output<T: JsonSchema>() -> Raw {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    shape::tidy(&mut schema);
    if is_object(&schema) {
        return Value::from(schema).into();
    }
    let definitions = schema.remove("$defs");
    let mut wrapped = json!({"type": "object", "properties": {WRAPPED: schema}, "required": [WRAPPED]});
    if let Some(definitions) = definitions {
        wrapped["$defs"] = definitions;
    }
    wrapped[WRAP_MARK] = true.into();
    wrapped.into()
}

/// The member that holds structured content which is not an object by its type.
pub(crate) const WRAPPED: &str = "result";
/// Marks an output schema whose content is wrapped; not part of the definition that is listed.
pub(crate) const WRAP_MARK: &str = "x-trunkline-wrapped";

fn is_object(schema: &Schema) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

/// The schema of a form: flat, and nothing but what forms may hold.
pub(crate) fn of_form<T: JsonSchema>() -> Raw {
    let mut settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    shape::tidy(&mut schema);
    schema.remove("description");
    Value::from(schema).into()
}
