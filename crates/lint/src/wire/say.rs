//! What is said on a line, what is expected, and what is heard.

use super::dress;
use crate::evidence::{HttpHead, Settled, Step};
use bytes::Bytes;
use serde_json::Value;

/// Something to send as it is.
#[derive(Debug, Clone)]
pub struct Say {
    pub step: Step,
    pub variant: String,
    pub bytes: Bytes,
    pub expect: Expect,
}

/// What counts as an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Expect {
    /// A response with this id.
    Answer(Value),
    /// Any response at all, with whatever id.
    Any,
    /// Nothing; listen for the quiet time.
    Nothing,
    /// Whatever comes is kept, and nobody waits for it.
    Soon,
    /// A message of any kind, with which a stream begins that goes on.
    Told,
}

/// The outcome of an exchange, as a probe may need it to go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// The whole response.
    pub answer: Option<Value>,
    pub settled: Settled,
    pub http: Option<HttpHead>,
}

impl Say {
    pub fn new(step: Step, message: &Value, expect: Expect) -> Self {
        Self { step, variant: String::new(), bytes: dress::bytes(message), expect }
    }

    pub fn raw(step: Step, bytes: impl Into<Bytes>, expect: Expect) -> Self {
        Self { step, variant: String::new(), bytes: bytes.into(), expect }
    }

    #[must_use]
    pub fn variant(mut self, variant: impl Into<String>) -> Self {
        self.variant = variant.into();
        self
    }
}

impl Heard {
    pub fn result(&self) -> Option<&Value> {
        self.answer.as_ref()?.get("result").filter(|result| !result.is_null())
    }

    pub fn error_code(&self) -> Option<i64> {
        self.answer.as_ref()?.get("error")?.get("code")?.as_i64()
    }
}
