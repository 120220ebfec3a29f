//! Messages to send, the expected answer, and the outcome.

use super::messages;
use crate::evidence::{HttpHead, Settled, Step};
use bytes::Bytes;
use serde_json::Value;

/// Raw bytes to send, with the expected answer.
#[derive(Debug, Clone)]
pub struct Say {
    pub step: Step,
    pub variant: String,
    pub bytes: Bytes,
    pub expect: Expect,
}

/// The answer to wait for.
#[derive(Debug, Clone, PartialEq)]
pub enum Expect {
    /// A response with this id.
    Answer(Value),
    /// Any response, whatever its id.
    Any,
    /// No answer; records what arrives during the quiet time.
    Nothing,
    /// Does not wait; later messages are still recorded.
    NoWait,
    /// Any message, as the beginning of a stream that stays open.
    FirstMessage,
}

/// The outcome of an exchange, for the probe.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// The whole response.
    pub answer: Option<Value>,
    pub settled: Settled,
    pub http: Option<HttpHead>,
}

impl Say {
    pub fn new(step: Step, message: &Value, expect: Expect) -> Self {
        Self { step, variant: String::new(), bytes: messages::bytes(message), expect }
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
