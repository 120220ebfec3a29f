//! A validation error as callers get it: the field, the reason, and the given value.

use jsonschema::{ValidationError, error::ValidationErrorKind};
use serde_json::{Value, json};
use std::fmt;

/// Maximum number of characters of a value that an error quotes.
const MAX_GIVEN: usize = 120;

/// One validation error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// A JSON pointer; empty for the whole value.
    pub field: String,
    pub reason: String,
    /// The JSON text of the value, truncated.
    pub given: String,
}

impl Complaint {
    pub fn of(error: &ValidationError<'_>) -> Self {
        let mut field = error.instance_path().to_string();
        let mut given = cut(&error.instance().to_string());
        let reason = match error.kind() {
            ValidationErrorKind::Required { property } => {
                field = format!("{field}/{}", property.as_str().unwrap_or_default());
                "nothing".clone_into(&mut given);
                "is required".to_owned()
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let first = unexpected.first().map_or("", String::as_str);
                given = error.instance().get(first).map_or(given, |value| cut(&value.to_string()));
                field = format!("{field}/{}", cut(first));
                "is not a known field".to_owned()
            }
            _ => cut(&error.masked_with("the value").to_string()),
        };
        Self { field, reason, given }
    }

    /// The complaint about a value that cannot be checked.
    pub fn too_expensive(value: &Value) -> Self {
        Self {
            field: String::new(),
            reason: "cannot be checked, because that takes too many steps".to_owned(),
            given: cut(&value.to_string()),
        }
    }

    pub fn to_value(&self) -> Value {
        json!({"field": self.field, "reason": self.reason, "given": self.given})
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = if self.field.is_empty() { "the arguments" } else { &self.field };
        write!(f, "{field}: {} (given: {})", self.reason, self.given)
    }
}

/// `text`, truncated to [`MAX_GIVEN`] characters.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_GIVEN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
