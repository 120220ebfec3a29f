//! Data that the maker of a call and the handler that records it exchange.

use std::sync::{Mutex, OnceLock, PoisonError};

/// Shared by the maker of a call and the handler that records it.
#[derive(Debug, Default)]
pub struct CallRecord {
    /// The id under which the call is recorded, from the handler that records it.
    pub id: OnceLock<String>,
    /// Ids of the callers that answered questions of the call, if they are not the client itself.
    answered_by: Mutex<Vec<String>>,
}

impl CallRecord {
    /// The record of a call that goes on with answers of these callers.
    pub fn with_answers_of(callers: Vec<String>) -> Self {
        Self { id: OnceLock::new(), answered_by: Mutex::new(callers) }
    }

    /// Notes a caller that answered a question.
    pub fn answered_by(&self, caller: &str) {
        let mut callers = self.answered_by.lock().unwrap_or_else(PoisonError::into_inner);
        if !callers.iter().any(|known| known == caller) {
            callers.push(caller.to_owned());
        }
    }

    pub fn answerers(&self) -> Vec<String> {
        self.answered_by.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
