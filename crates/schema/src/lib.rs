//! JSON Schemas that others wrote, and values held against them.
//!
//! Nothing is ever fetched. The engine is generic over what a value looks like, so each crate that calls it compiles the whole of
//! it, more than a megabyte; this crate calls it for all of them.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use std::fmt;

pub use jsonschema::{Draft, ErrorIterator, ValidationError, error::ValidationErrorKind};

/// The most memory a compiled pattern of a stranger may take.
const MAX_PATTERN_BYTES: usize = 1024 * 1024;

/// A compiled schema.
pub struct Schema(Validator);

impl Schema {
    /// Compiles a schema of JSON Schema 2020-12 whose writer is not trusted with our time: patterns run on an engine that is
    /// linear in the text.
    pub fn of_stranger(schema: &Value) -> Result<Self, ValidationError<'static>> {
        let patterns =
            PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES);
        let options = jsonschema::options().with_draft(Draft::Draft202012).offline();
        options.with_pattern_options(patterns).build(schema).map(Self)
    }

    /// Compiles a schema of the draft that it names, or else of JSON Schema 2020-12.
    pub fn of_its_draft(schema: &Value) -> Result<Self, ValidationError<'static>> {
        let named = schema.get("$schema").is_some();
        let draft = if named { Draft::default().detect(schema) } else { Draft::Draft202012 };
        jsonschema::options().with_draft(draft).offline().build(schema).map(Self)
    }

    /// Whether the value fits.
    pub fn accepts(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// Everything that does not fit, as it is found.
    pub fn errors<'a>(&'a self, value: &'a Value) -> ErrorIterator<'a> {
        self.0.iter_errors(value)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_fits_or_is_complained_of() {
        let schema = Schema::of_stranger(&json!({"type": "object", "required": ["a"]})).unwrap();
        assert!(schema.accepts(&json!({"a": 1})));
        let value = json!({});
        let errors: Vec<String> = schema.errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
    }

    #[test]
    fn nothing_is_fetched() {
        for reference in ["http://127.0.0.1:1/a", "file:///etc/passwd"] {
            let schema = json!({"$ref": reference});
            assert!(Schema::of_stranger(&schema).is_err(), "{reference}");
            assert!(Schema::of_its_draft(&schema).is_err(), "{reference}");
        }
    }

    #[test]
    fn patterns_of_strangers_have_no_memory_and_bounds() {
        assert!(Schema::of_stranger(&json!({"pattern": r"(a)\1"})).is_err());
        assert!(Schema::of_stranger(&json!({"pattern": "((a{100}){100}){100}"})).is_err());
        assert!(Schema::of_its_draft(&json!({"pattern": r"(a)\1"})).is_ok());
    }

    #[test]
    fn the_draft_is_the_one_that_is_named() {
        let old =
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]});
        let schema = Schema::of_its_draft(&old).unwrap();
        assert!(!schema.accepts(&json!([1])));
        assert!(Schema::of_its_draft(&json!({"items": [{"type": "string"}]})).is_err());
    }
}
