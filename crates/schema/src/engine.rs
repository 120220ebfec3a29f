//! How the engine compiles schemas. Nothing is ever fetched.

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// The most memory a compiled pattern of a stranger may take.
const MAX_PATTERN_BYTES: usize = 1024 * 1024;

/// Compiles a schema of JSON Schema 2020-12 whose patterns run in time linear in the text.
pub(super) fn of_stranger(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    let patterns = PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES);
    let options = jsonschema::options().with_draft(Draft::Draft202012).offline();
    options.with_pattern_options(patterns).build(schema)
}

/// Compiles a schema of the draft that it names, or else of JSON Schema 2020-12.
pub(super) fn of_its_draft(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    let named = schema.get("$schema").is_some();
    let draft = if named { Draft::default().detect(schema) } else { Draft::Draft202012 };
    jsonschema::options().with_draft(draft).offline().build(schema)
}
