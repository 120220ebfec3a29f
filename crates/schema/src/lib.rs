//! Validates values against untrusted JSON Schemas.
//!
//! Neither schemas nor values are trusted: their time and memory are limited, and nothing is ever
//! fetched. The cost of a schema is judged before it is compiled (`judge`), and the cost of a
//! value is counted before it is validated (`meter`); the limits are in `limits`. The engine (the
//! crate `jsonschema`) is generic, so each crate that calls it compiles its own copy of more than
//! a megabyte; only this crate calls it. Most schemas are plain and most values fit: then only the
//! value's text is scanned, and the engine is not used.

mod complaint;
mod engine;
mod fit;
mod graph;
mod judge;
pub mod limits;
mod memory;
mod meter;
mod patterns;
mod plain;

use engine::Reading;
use graph::Graph;
use jsonschema::Validator;
use judge::Judged;
use plain::Plain;
use serde_json::Value;
use std::{borrow::Cow, fmt, sync::OnceLock};

pub use complaint::Complaint;
pub use jsonschema::{Draft, ValidationError, error::ValidationErrorKind};
pub use judge::BadSchema;
pub use limits::Budget;
pub use meter::TooExpensive;

/// A schema that validates values.
pub struct Schema {
    form: Form,
    memory: u64,
}

enum Form {
    Compiled(Box<Compiled>),
    /// Compiled only when a value does not certainly fit.
    Plain {
        plain: Box<Plain>,
        text: Box<str>,
        compiled: OnceLock<Result<Box<Compiled>, BadSchema>>,
    },
}

/// A compiled schema, with the data that gives the cost of using it.
struct Compiled {
    validator: Validator,
    graph: Graph,
    judged: Judged,
}

impl Schema {
    /// Reads a schema as JSON Schema 2020-12. A pattern that needs backtracking is an error.
    pub fn untrusted(schema: &Value) -> Result<Self, BadSchema> {
        check_length(schema)?;
        let Some(plain) = Plain::new(schema) else {
            return Compiled::new(schema, Reading::Newest).map(Self::from);
        };
        let memory = judge::judge(&Graph::new(schema)?)?.memory;
        let text = schema.to_string().into();
        let form = Form::Plain { plain: Box::new(plain), text, compiled: OnceLock::new() };
        Ok(Self { form, memory })
    }

    /// Reads a schema by the draft that it names, or as JSON Schema 2020-12. Patterns that need
    /// backtracking are ignored.
    pub fn of_its_draft(schema: &Value) -> Result<Self, BadSchema> {
        check_length(schema)?;
        let mut schema = Cow::Borrowed(schema);
        let mut compiled = Compiled::new(&schema, Reading::AsNamed);
        if matches!(compiled, Err(BadSchema::Pattern(_))) {
            engine::drop_backtracking(schema.to_mut());
            compiled = Compiled::new(&schema, Reading::AsNamed);
        }
        compiled.map(Self::from)
    }

    /// Most memory that the schema takes, in bytes, by an estimate.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// True if a quick check proves that the text of a value fits. If false, the value may still
    /// fit.
    pub fn surely_accepts(&self, text: &str) -> bool {
        match &self.form {
            Form::Plain { plain, .. } => plain.surely_fits(text),
            Form::Compiled(_) => false,
        }
    }

    /// True if the value fits.
    pub fn accepts(&self, value: &Value, budget: Budget) -> Result<bool, TooExpensive> {
        let Ok(compiled) = self.compiled() else { return Ok(false) };
        meter::validity((&compiled.graph, &compiled.judged.patterns), value, budget)?;
        Ok(compiled.validator.is_valid(value))
    }

    /// All validation errors; empty for a value that fits. If the errors would take too much
    /// memory or time, a single error replaces them.
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
        if meter::errors((&compiled.graph, &compiled.judged.patterns), value, budget).is_err() {
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
        let judged = judge::judge(&graph)?;
        let validator =
            engine::compile(schema, reading).map_err(|error| BadSchema::Invalid(error.to_string()))?;
        Ok(Self { validator, graph, judged })
    }
}

impl From<Compiled> for Schema {
    fn from(compiled: Compiled) -> Self {
        let memory = compiled.judged.memory;
        Self { form: Form::Compiled(Box::new(compiled)), memory }
    }
}

/// Fails with the reason if a schema is too expensive or cannot be used. Compiles nothing except
/// its patterns.
pub fn judge(schema: &Value) -> Result<(), BadSchema> {
    check_length(schema)?;
    judge::judge(&Graph::new(schema)?).map(|_| ())
}

/// The first violation of the draft's meta-schema. A schema that is too expensive is not checked.
pub fn meta_error(schema: &Value) -> Option<ValidationError<'_>> {
    if judge(schema).is_err_and(|bad| bad.is_expensive()) {
        return None;
    }
    jsonschema::meta::validate(schema).err()
}

/// True if a pattern is a valid regular expression.
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
