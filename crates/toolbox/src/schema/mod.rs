//! JSON Schemas: generated from types, rewritten so that every host understands them, and used for
//! validation.
//!
//! A schema of arguments is closed (`additionalProperties: false`) unless its type says otherwise,
//! has no Rust-specific formats (`uint32`), and declares an `Option` field as not required instead
//! of nullable.

mod checker;
mod shape;

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde_json::{Value, json};
use trunkline_protocol::Raw;

pub use checker::BadSchema;
pub(crate) use checker::{Checker, MAX_ELEMENTS, count_elements};

/// The schema of a tool's arguments.
pub(crate) fn of_input<T: JsonSchema>() -> Raw {
    let mut settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    shape::tidy(&mut schema);
    shape::close(&mut schema);
    // The type's doc comment is for readers of the source; the tool has its own description.
    schema.remove("description");
    Value::from(schema).into()
}

/// The schema of a tool without arguments.
pub(crate) fn of_nothing() -> Raw {
    json!({"type": "object", "additionalProperties": false}).into()
}

/// The schema of structured content. A type that is not an object is wrapped in a member
/// `result`, because older revisions allow only objects.
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

/// The member that wraps structured content whose type is not an object.
pub(crate) const WRAPPED: &str = "result";
/// Marks an output schema whose content is wrapped; removed before the tool is listed.
pub(crate) const WRAP_MARK: &str = "x-trunkline-wrapped";

fn is_object(schema: &Schema) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

/// The schema of an elicitation form.
pub(crate) fn of_form<T: JsonSchema>() -> Raw {
    let mut settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    shape::tidy(&mut schema);
    schema.remove("description");
    Value::from(schema).into()
}
