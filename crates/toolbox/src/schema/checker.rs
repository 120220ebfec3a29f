//! Checker: a compiled schema that validates values and reports the errors.
//!
//! Both schema and value are untrusted: no reference is fetched, a schema that is too expensive is
//! refused before it is compiled, and checking a value has a bounded number of steps.

use serde_json::Value;
use std::fmt;
use trunkline_protocol::{Object, Raw};
use trunkline_schema::{Budget, Complaint, Schema, TooExpensive};

/// Maximum number of JSON values (numbers, strings, arrays, members) in arguments.
pub(crate) const MAX_ELEMENTS: usize = 100_000;
/// Maximum size of a schema.
const MAX_SCHEMA_BYTES: usize = 256 * 1024;
/// Maximum number of JSON values in a schema; one with more is taken for an attack.
const MAX_SCHEMA_ELEMENTS: usize = 10_000;
/// Maximum number of errors reported at once.
const MAX_COMPLAINTS: usize = 5;
/// Maximum number of characters of an error about a schema.
const MAX_GIVEN: usize = 120;

/// A schema that was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSchema {
    #[error("the schema is not an object")]
    NotAnObject,
    #[error("the schema does not describe an object: its `type` must be \"object\"")]
    NotOfObjects,
    #[error("the schema has {0} bytes, more than the {MAX_SCHEMA_BYTES} allowed")]
    TooLong(usize),
    #[error("the schema holds {0} values, more than the {MAX_SCHEMA_ELEMENTS} allowed")]
    TooComplex(usize),
    #[error("the schema cannot be compiled: {0}")]
    Invalid(String),
    #[error("{0}")]
    TooExpensive(String),
}

/// A compiled schema.
pub(crate) struct Checker {
    schema: Schema,
    /// Optional, non-nullable members: a null there is treated as an absent member.
    optional: Vec<String>,
}

impl Checker {
    /// Compiles the schema of an object.
    pub(crate) fn new(schema: &Raw) -> Result<Self, BadSchema> {
        if schema.as_bytes().len() > MAX_SCHEMA_BYTES {
            return Err(BadSchema::TooLong(schema.as_bytes().len()));
        }
        let elements = count_elements(schema.as_bytes());
        if elements > MAX_SCHEMA_ELEMENTS {
            return Err(BadSchema::TooComplex(elements));
        }
        let schema: Value = schema.decode().map_err(|e| BadSchema::Invalid(e.to_string()))?;
        let object = schema.as_object().ok_or(BadSchema::NotAnObject)?;
        if object.get("type").is_none_or(|t| t != "object") {
            return Err(BadSchema::NotOfObjects);
        }
        let compiled = Schema::untrusted(&schema).map_err(|bad| {
            let told = cut(&bad.to_string());
            if bad.is_expensive() { BadSchema::TooExpensive(told) } else { BadSchema::Invalid(told) }
        })?;
        Ok(Self { schema: compiled, optional: optional_members(&schema) })
    }

    /// Fast path: true if the value is certainly valid. False means that a full check is needed.
    pub(crate) fn surely_fits(&self, value: &Raw) -> bool {
        self.schema.surely_accepts(value.as_str())
    }

    /// Validates the value; `Err` holds the first [`MAX_COMPLAINTS`] errors.
    pub(crate) fn check(&self, value: &Value) -> Result<(), Vec<Complaint>> {
        match self.schema.errors(value, Budget::FULL) {
            Ok(errors) if errors.is_empty() => Ok(()),
            Ok(errors) => Err(errors.iter().take(MAX_COMPLAINTS).map(Complaint::of).collect()),
            Err(TooExpensive) => Err(vec![Complaint::too_expensive(value)]),
        }
    }

    /// Removes nulls that mean "absent" from `value`. Returns the JSON text without them, or
    /// `None` if there were none.
    pub(crate) fn drop_nulls(&self, value: &mut Value, text: &Raw) -> Option<Raw> {
        let members = value.as_object_mut()?;
        let null: Vec<&String> =
            self.optional.iter().filter(|name| members.get(*name).is_some_and(Value::is_null)).collect();
        if null.is_empty() {
            return None;
        }
        // Edits the original JSON text, because the decoded value does not keep every digit.
        let mut kept: Object = text.object()?;
        for name in null {
            members.remove(name);
            kept.remove(name);
        }
        Some(kept.to_raw())
    }
}

/// Number of JSON values in a text, counted without decoding it.
pub(crate) fn count_elements(text: &[u8]) -> usize {
    let (mut count, mut in_string, mut escaped) = (1, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

fn optional_members(schema: &Value) -> Vec<String> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    let optional = properties.iter().filter(|(name, property)| {
        property["type"].is_string() && property["type"] != "null" && !required.iter().any(|r| r == *name)
    });
    optional.map(|(name, _)| name.clone()).collect()
}

/// `text`, truncated to [`MAX_GIVEN`] characters.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_GIVEN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

impl fmt::Debug for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker").finish_non_exhaustive()
    }
}
