//! JSON Schemas that others wrote, and values held against them.
//!
//! Neither the writer of a schema nor that of a value is trusted with our time and memory. Nothing is ever fetched. A schema is
//! judged before it is compiled (`judge`), and what a value can cost is counted before it is checked (`meter`); the limits
//! are in `limits`. The engine is generic over what a value looks like, so each crate that calls it compiles the whole of it,
//! more than a megabyte; this crate calls it for all of them. Most schemas are plain, and most values fit: then the text of
//! the value is all that is looked at, and the engine is never used.

mod engine;
mod fit;
mod graph;
mod judge;
pub mod limits;
mod meter;
mod patterns;
mod plain;

use engine::Reading;
use graph::Graph;
use jsonschema::Validator;
use patterns::Patterns;
use plain::Plain;
use serde_json::Value;
use std::{borrow::Cow, fmt, sync::OnceLock};

pub use jsonschema::{Draft, ValidationError, error::ValidationErrorKind};
pub use judge::BadSchema;
pub use limits::Budget;
pub use meter::TooExpensive;

/// A schema to hold values against.
pub struct Schema {
    form: Form,
}

enum Form {
    Compiled(Box<Compiled>),
    /// Compiled when a value is not sure to fit.
    Plain {
        plain: Box<Plain>,
        text: Box<str>,
        compiled: OnceLock<Result<Box<Compiled>, BadSchema>>,
    },
}

/// What the engine made of a schema, and what using it costs.
struct Compiled {
    validator: Validator,
    graph: Graph,
    patterns: Patterns,
}

impl Schema {
    /// Takes a schema of JSON Schema 2020-12. A pattern that needs backtracking makes it a bad one.
    pub fn of_stranger(schema: &Value) -> Result<Self, BadSchema> {
        check_length(schema)?;
        let form = match Plain::new(schema) {
            Some(plain) => {
                judge::judge(&Graph::new(schema)?)?;
                let text = schema.to_string().into();
                Form::Plain { plain: Box::new(plain), text, compiled: OnceLock::new() }
            }
            None => Form::Compiled(Box::new(Compiled::new(schema, Reading::Newest)?)),
        };
        Ok(Self { form })
    }

    /// Takes a schema of the draft that it names, or else of JSON Schema 2020-12. Patterns that need backtracking are left out.
    pub fn of_its_draft(schema: &Value) -> Result<Self, BadSchema> {
        check_length(schema)?;
        let mut schema = Cow::Borrowed(schema);
        let mut compiled = Compiled::new(&schema, Reading::AsNamed);
        if matches!(compiled, Err(BadSchema::Pattern(_))) {
            engine::drop_backtracking(schema.to_mut());
            compiled = Compiled::new(&schema, Reading::AsNamed);
        }
        Ok(Self { form: Form::Compiled(Box::new(compiled?)) })
    }

    /// Whether the text of a value is sure to fit at a first look; where it is not, the value may fit all the same.
    pub fn surely_accepts(&self, text: &str) -> bool {
        match &self.form {
            Form::Plain { plain, .. } => plain.surely_fits(text),
            Form::Compiled(_) => false,
        }
    }

    /// Whether the value fits.
    pub fn accepts(&self, value: &Value, budget: Budget) -> Result<bool, TooExpensive> {
        let Ok(compiled) = self.compiled() else { return Ok(false) };
        meter::validity((&compiled.graph, &compiled.patterns), value, budget)?;
        Ok(compiled.validator.is_valid(value))
    }

    /// Everything that does not fit; nothing for a value that fits. Where errors would take too much memory or time, one
    /// error stands for all of them.
    pub fn errors<'a>(
        &'a self,
        value: &'a Value,
        budget: Budget,
    ) -> Result<Vec<ValidationError<'a>>, TooExpensive> {
        if self.accepts(value, budget)? {
            return Ok(Vec::new());
        }
        let compiled = match self.compiled() {
            Ok(compiled) => compiled,
            Err(reason) => return Ok(vec![ValidationError::custom(reason.to_string())]),
        };
        if meter::errors((&compiled.graph, &compiled.patterns), value, budget).is_err() {
            return Ok(vec![ValidationError::custom("there are too many errors to list them")]);
        }
        Ok(compiled.validator.iter_errors(value).collect())
    }

    fn compiled(&self) -> Result<&Compiled, &BadSchema> {
        match &self.form {
            Form::Compiled(compiled) => Ok(compiled),
            Form::Plain { text, compiled, .. } => {
                compiled.get_or_init(|| compile(text).map(Box::new)).as_deref()
            }
        }
    }
}

impl Compiled {
    fn new(schema: &Value, reading: Reading) -> Result<Self, BadSchema> {
        let graph = Graph::new(schema)?;
        let patterns = judge::judge(&graph)?;
        let validator =
            engine::compile(schema, reading).map_err(|error| BadSchema::Invalid(error.to_string()))?;
        Ok(Self { validator, graph, patterns })
    }
}

/// Why a schema is too expensive to be used, or cannot be used at all. Nothing is compiled but its patterns.
pub fn judge(schema: &Value) -> Result<(), BadSchema> {
    check_length(schema)?;
    judge::judge(&Graph::new(schema)?).map(|_| ())
}

/// What makes a schema break the rules of its draft. One that is too long is not looked at.
pub fn meta_error(schema: &Value) -> Option<ValidationError<'_>> {
    check_length(schema).ok()?;
    jsonschema::meta::validate(schema).err()
}

/// Whether a pattern is a regular expression.
pub fn is_regex(pattern: &str) -> bool {
    engine::is_regex(pattern)
}

fn compile(text: &str) -> Result<Compiled, BadSchema> {
    let schema = serde_json::from_str(text).map_err(|error| BadSchema::Invalid(error.to_string()))?;
    Compiled::new(&schema, Reading::Newest)
}

fn check_length(schema: &Value) -> Result<(), BadSchema> {
    let bytes = schema.to_string().len();
    if bytes > limits::MAX_SCHEMA_BYTES { Err(BadSchema::TooLong(bytes)) } else { Ok(()) }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod tests;
