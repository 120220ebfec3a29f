//! Compiles schemas with the engine. Nothing is ever fetched, and patterns match in time linear in
//! the text.

use crate::{
    limits::{MAX_PATTERN_BYTES, MAX_PATTERN_CACHE},
    patterns,
};
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::{Value, json};

/// Maximum number of backtracking patterns that are dropped. A schema with more is refused because
/// of the first one left.
const MAX_DROPPED: usize = 100;

/// The draft that applies to a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// JSON Schema 2020-12, whatever `$schema` says.
    Newest,
    /// The draft in `$schema`; JSON Schema 2020-12 if it is absent.
    AsNamed,
}

pub(crate) fn compile(schema: &Value, reading: Reading) -> Result<Validator, ValidationError<'static>> {
    let named = reading == Reading::AsNamed && schema.get("$schema").is_some();
    let draft = if named { Draft::default().detect(schema) } else { Draft::Draft202012 };
    let patterns = PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_CACHE);
    jsonschema::options().with_draft(draft).offline().with_pattern_options(patterns).build(schema)
}

/// Removes each `pattern` that is a valid regular expression but needs backtracking, whose time
/// cannot be bounded. Other keywords stay unchanged.
pub(crate) fn drop_backtracking(schema: &mut Value) {
    let mut left = MAX_DROPPED;
    dropped(schema, &mut left);
}

/// True if a pattern is a valid regular expression, with or without backtracking.
pub(crate) fn is_regex(pattern: &str) -> bool {
    let options =
        PatternOptions::fancy_regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_CACHE);
    let alone = json!({"pattern": pattern});
    jsonschema::options().offline().with_pattern_options(options).build(&alone).is_ok()
}

fn dropped(schema: &mut Value, left: &mut usize) {
    match schema {
        Value::Object(members) => {
            let pattern = members.get("pattern").and_then(Value::as_str);
            if *left > 0 && pattern.is_some_and(|it| patterns::is_not_linear(it) && is_regex(it)) {
                *left -= 1;
                members.shift_remove("pattern");
            }
            let silent = |name: &str| matches!(name, "enum" | "const" | "default" | "examples");
            let inside = members.iter_mut().filter(|(name, _)| !silent(name));
            inside.for_each(|(_, member)| dropped(member, left));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| dropped(item, left)),
        _ => {}
    }
}
