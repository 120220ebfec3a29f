//! Checker: the arguments of a call against the schema of its tool.
//!
//! Whoever wrote the schema is not trusted with our time: nothing is fetched, its size is bounded, and patterns run on an
//! engine that is linear in the text.

use serde_json::Value;
use std::fmt;
use trunkline_protocol::Raw;
use trunkline_schema::Schema;

/// The most text a schema may have.
const MAX_SCHEMA_BYTES: usize = 256 * 1024;
/// The most values a schema may hold.
const MAX_SCHEMA_VALUES: usize = 10_000;
/// The most text that is checked; more is left to the server.
const MAX_ARGUMENT_BYTES: usize = 1024 * 1024;
/// The most complaints told at once, and the most characters of one.
const MAX_COMPLAINTS: usize = 5;
const MAX_COMPLAINT: usize = 200;

/// A schema that cannot be used for checking.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadSchema {
    #[error("the schema has {0} bytes, more than the {MAX_SCHEMA_BYTES} allowed")]
    TooLong(usize),
    #[error("the schema holds {0} values, more than the {MAX_SCHEMA_VALUES} allowed")]
    TooComplex(usize),
    #[error("the schema cannot be compiled: {0}")]
    Invalid(String),
}

/// A compiled schema.
pub(crate) struct Checker(Schema);

impl Checker {
    pub(crate) fn new(schema: &Raw) -> Result<Self, BadSchema> {
        let text = schema.as_bytes();
        if text.len() > MAX_SCHEMA_BYTES {
            return Err(BadSchema::TooLong(text.len()));
        }
        // Every value but the first stands behind one of these, inside texts or not: an upper bound is enough.
        let values = text.iter().filter(|b| matches!(b, b',' | b'[' | b'{')).count();
        if values > MAX_SCHEMA_VALUES {
            return Err(BadSchema::TooComplex(values));
        }
        let schema: Value = schema.decode().map_err(|e| BadSchema::Invalid(e.to_string()))?;
        Schema::of_stranger(&schema).map(Self).map_err(|e| BadSchema::Invalid(cut(&e.to_string())))
    }

    /// What is wrong with the arguments, in words.
    pub(crate) fn check(&self, arguments: Option<&Raw>) -> Result<(), String> {
        let value: Value = match arguments {
            Some(arguments) if arguments.as_bytes().len() > MAX_ARGUMENT_BYTES => return Ok(()),
            Some(arguments) if self.0.surely_accepts(arguments.as_str()) => return Ok(()),
            Some(arguments) => arguments.decode().map_err(|e| e.to_string())?,
            None => Value::Object(serde_json::Map::new()),
        };
        if self.0.accepts(&value) {
            return Ok(());
        }
        let complaints = self.0.errors(&value).take(MAX_COMPLAINTS);
        let complaints: Vec<String> = complaints
            .map(|e| {
                let (at, text) = (e.instance_path().to_string(), cut(&e.to_string()));
                if at.is_empty() { text } else { format!("{at}: {text}") }
            })
            .collect();
        Err(complaints.join("\n"))
    }
}

impl fmt::Debug for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker").finish_non_exhaustive()
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_COMPLAINT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checker(schema: &str) -> Result<Checker, BadSchema> {
        Checker::new(&Raw::parse(schema.to_owned()).unwrap())
    }

    #[test]
    fn arguments_are_judged_and_absent_ones_count_as_none() {
        let checker =
            checker(r#"{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}"#).unwrap();
        assert!(checker.check(Some(&Raw::parse(r#"{"a":1}"#).unwrap())).is_ok());
        assert!(checker.check(None).unwrap_err().contains("required"));
        let wrong = checker.check(Some(&Raw::parse(r#"{"a":"x"}"#).unwrap())).unwrap_err();
        assert!(wrong.starts_with("/a: "), "{wrong}");
    }

    #[test]
    fn j10_nothing_is_fetched_and_bounds_hold() {
        for reference in ["http://127.0.0.1:1/a", "file:///etc/passwd"] {
            let schema = format!(r#"{{"type":"object","properties":{{"a":{{"$ref":"{reference}"}}}}}}"#);
            assert!(matches!(checker(&schema), Err(BadSchema::Invalid(_))), "{reference}");
        }
        let many = format!(r#"{{"anyOf":[{}]}}"#, vec!["{}"; 10_001].join(","));
        assert!(matches!(checker(&many), Err(BadSchema::TooComplex(_))));
        let cycle = checker(r##"{"type":"object","properties":{"a":{"$ref":"#"}}}"##).unwrap();
        assert!(cycle.check(Some(&Raw::parse(r#"{"a":{"a":{}}}"#).unwrap())).is_ok());
    }

    #[test]
    fn j10_an_evil_pattern_takes_linear_time() {
        let checker = checker(r#"{"properties":{"a":{"pattern":"^(a+)+$"}}}"#).unwrap();
        let evil = format!(r#"{{"a":"{}!"}}"#, "a".repeat(50_000));
        assert!(checker.check(Some(&Raw::parse(evil).unwrap())).is_err());
    }
}
