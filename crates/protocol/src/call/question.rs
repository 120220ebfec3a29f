//! A question that the server asks while it works: sampling, elicitation, roots.

use super::Outcome;
use crate::{Fault, FaultKind, Raw};
use std::{borrow::Cow, fmt};

/// A server's question and the callback for its answer. Dropping it unanswered sends a refusal, so
/// the server never waits for ever.
pub struct Question {
    /// The key of the question in `inputRequests` to a modern client; a numbered key is used if
    /// this is `None`.
    pub key: Option<String>,
    pub method: Cow<'static, str>,
    pub params: Option<Raw>,
    answer: Option<Box<dyn FnOnce(Outcome) + Send>>,
}

impl Question {
    pub fn new(
        method: impl Into<Cow<'static, str>>,
        params: Option<Raw>,
        answer: impl FnOnce(Outcome) + Send + 'static,
    ) -> Self {
        Self { key: None, method: method.into(), params, answer: Some(Box::new(answer)) }
    }

    /// Sets the key.
    #[must_use]
    pub fn named(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    pub fn answer(mut self, outcome: Outcome) {
        if let Some(answer) = self.answer.take() {
            answer(outcome);
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        if let Some(answer) = self.answer.take() {
            answer(Err(Fault::new(
                FaultKind::Declined,
                format!("the question `{}` was not answered", self.method),
            )));
        }
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("method", &self.method)
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}
