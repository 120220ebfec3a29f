//! A message as a scripted peer received it.

use serde_json::{Value, json, value::RawValue};
use std::collections::BTreeMap;

/// A request or notification, with its original text.
#[derive(Debug, Clone)]
pub struct Asked {
    pub text: String,
    pub method: String,
    pub params: Value,
    /// The original text of the id; `None` for a notification.
    pub id: Option<String>,
}

impl Asked {
    /// Parses a message; `method` is empty for a response.
    pub fn read(text: String) -> Self {
        let members: BTreeMap<&str, &RawValue> =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("not a message ({error}): {text}"));
        let id = members.get("id").map(|id| id.get().to_owned());
        let value = |name| members.get(name).map(|raw| serde_json::from_str(raw.get()).expect("parsed once"));
        let method = value("method").as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        let params = value("params").unwrap_or_default();
        Self { text, method, params, id }
    }

    /// Returns the whole message as a value.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.text).expect("parsed once")
    }

    /// Returns the text of a response with this result.
    pub fn result(&self, result: &Value) -> String {
        self.result_text(&result.to_string())
    }

    /// Returns the text of a response with this result, given as JSON text.
    pub fn result_text(&self, result: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, self.id())
    }

    /// Returns the text of an error response.
    pub fn error(&self, code: i64, message: &str) -> String {
        self.error_with(&json!({"code": code, "message": message}))
    }

    pub fn error_with(&self, error: &Value) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, self.id())
    }

    fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_else(|| panic!("a notification has no answer: {}", self.text))
    }
}
