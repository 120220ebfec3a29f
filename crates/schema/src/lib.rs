//! JSON Schemas that others wrote, and values held against them.
//!
//! Nothing is ever fetched. The engine is generic over what a value looks like, so each crate that calls it compiles the whole of
//! it, more than a megabyte; this crate calls it for all of them. Most schemas are plain, and most values fit: then the text
//! of the value is all that is looked at, and the engine is never woken.

mod engine;
mod fit;
mod plain;

use jsonschema::Validator;
use plain::Plain;
use serde_json::Value;
use std::{fmt, iter, sync::OnceLock};

pub use jsonschema::{Draft, ValidationError, error::ValidationErrorKind};

/// A schema to hold values against.
pub struct Schema {
    form: Form,
}

enum Form {
    Compiled(Box<Validator>),
    /// Compiled when a value is not sure to fit.
    Plain {
        plain: Box<Plain>,
        text: Box<str>,
        compiled: OnceLock<Result<Box<Validator>, String>>,
    },
}

impl Schema {
    /// Takes a schema of JSON Schema 2020-12 whose writer is not trusted with our time: patterns run on an engine that is
    /// linear in the text.
    pub fn of_stranger(schema: &Value) -> Result<Self, ValidationError<'static>> {
        let form = match Plain::new(schema) {
            Some(plain) => Form::Plain {
                plain: Box::new(plain),
                text: schema.to_string().into(),
                compiled: OnceLock::new(),
            },
            None => Form::Compiled(Box::new(engine::of_stranger(schema)?)),
        };
        Ok(Self { form })
    }

    /// Takes a schema of the draft that it names, or else of JSON Schema 2020-12.
    pub fn of_its_draft(schema: &Value) -> Result<Self, ValidationError<'static>> {
        engine::of_its_draft(schema).map(|compiled| Self { form: Form::Compiled(Box::new(compiled)) })
    }

    /// Whether the text of a value is sure to fit at a first look; where it is not, the value may fit all the same.
    pub fn surely_accepts(&self, text: &str) -> bool {
        match &self.form {
            Form::Plain { plain, .. } => plain.surely_fits(text),
            Form::Compiled(_) => false,
        }
    }

    /// Whether the value fits.
    pub fn accepts(&self, value: &Value) -> bool {
        self.compiled().is_ok_and(|compiled| compiled.is_valid(value))
    }

    /// Everything that does not fit, as it is found.
    pub fn errors<'a>(&'a self, value: &'a Value) -> Box<dyn Iterator<Item = ValidationError<'a>> + 'a> {
        match self.compiled() {
            Ok(compiled) => Box::new(compiled.iter_errors(value)),
            Err(reason) => Box::new(iter::once(ValidationError::custom(reason))),
        }
    }

    fn compiled(&self) -> Result<&Validator, &str> {
        match &self.form {
            Form::Compiled(compiled) => Ok(compiled),
            Form::Plain { text, compiled, .. } => {
                compiled.get_or_init(|| compile(text)).as_deref().map_err(String::as_str)
            }
        }
    }
}

fn compile(text: &str) -> Result<Box<Validator>, String> {
    let schema = serde_json::from_str(text).map_err(|error| error.to_string())?;
    engine::of_stranger(&schema).map(Box::new).map_err(|error| error.to_string())
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
    fn a_plain_schema_wakes_the_engine_for_what_is_not_sure_to_fit() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
        let schema = Schema::of_stranger(&schema).unwrap();
        assert!(schema.surely_accepts(r#"{"a":1}"#));
        let Form::Plain { compiled, .. } = &schema.form else { panic!("it is plain") };
        assert!(compiled.get().is_none());
        assert!(!schema.surely_accepts(r#"{"a":1.0}"#) && schema.accepts(&json!({"a": 1.0})));
        assert_eq!(schema.errors(&json!({"a": "x"})).count(), 1);
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
