//! Fault: a failure that may be sent to a peer, classified by the catalogue of failures.
//!
//! A fault has two texts. `message` may be sent to the peer; `detail` is for the log and the local
//! user and is never sent. A fault received from a peer keeps the peer's error object, so that it
//! can be forwarded unchanged.

mod catalogue;
mod reading;

use crate::{Era, ErrorObject, Object, Raw};
use serde::Serialize;

pub use catalogue::{CATALOGUE, Entry, FaultKind};

/// A failure with a stable code, a text, and a suggested action.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}", self.display())]
pub struct Fault(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    kind: FaultKind,
    message: String,
    detail: Option<String>,
    peer: Option<ErrorObject>,
    data: Option<Raw>,
}

/// A fault in machine-readable form: requirement C2's six fields, and the stable name.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub code: &'static str,
    pub name: &'static str,
    pub message: String,
    pub user_message: &'static str,
    pub suggested_action: &'static str,
    pub retryable: bool,
    pub original_mcp_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Raw>,
}

impl Fault {
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), detail: None, peer: None, data: None }))
    }

    /// The fault for an error that a peer returned to `method`, classified by the catalogue.
    pub fn from_peer(error: ErrorObject, era: Era, method: &str) -> Self {
        let kind = reading::kind_of(error.code, era, method);
        let message = error.message.clone();
        Self(Box::new(Inner { kind, message, detail: None, data: None, peer: Some(error) }))
    }

    /// Adds a detail for the log and the local user, which is never sent to a peer.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Adds the `data` of the error object.
    #[must_use]
    pub fn with_data(mut self, data: Raw) -> Self {
        self.0.data = Some(data);
        self
    }

    pub fn kind(&self) -> FaultKind {
        self.0.kind
    }

    pub fn entry(&self) -> &'static Entry {
        self.0.kind.entry()
    }

    pub fn message(&self) -> &str {
        &self.0.message
    }

    pub fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }

    pub fn retryable(&self) -> bool {
        self.entry().retryable
    }

    /// The peer's error object, if the fault was received from a peer.
    pub fn peer(&self) -> Option<&ErrorObject> {
        self.0.peer.as_ref()
    }

    pub fn original_mcp_code(&self) -> Option<i64> {
        self.0.peer.as_ref().map(|e| e.code)
    }

    /// The `data` of the error object, received or to be sent.
    pub fn data(&self) -> Option<&Raw> {
        self.0.data.as_ref().or(self.0.peer.as_ref().and_then(|e| e.data.as_ref()))
    }

    /// The error object to send: the peer's error unchanged, or ours with the stable code in
    /// `data`.
    pub fn to_error(&self, era: Era) -> ErrorObject {
        if let Some(peer) = &self.0.peer {
            return peer.clone();
        }
        let entry = self.entry();
        let mut error = ErrorObject::new(entry.rpc_code(era), self.message());
        let mut data = self.0.data.as_ref().and_then(Raw::object).unwrap_or_default();
        for (name, value) in [("code", entry.name), ("appCode", entry.code)] {
            if data.get(name).is_none() {
                data.set(name, Raw::string(value));
            }
        }
        data.set("retryable", serde_json::Value::from(entry.retryable).into());
        error.data = Some(data.to_raw());
        error.rest = Object::new();
        error
    }

    pub fn report(&self) -> Report {
        let entry = self.entry();
        Report {
            code: entry.code,
            name: entry.name,
            message: self.0.message.clone(),
            user_message: entry.user_message,
            suggested_action: entry.suggested_action,
            retryable: entry.retryable,
            original_mcp_code: self.original_mcp_code(),
            detail: self.0.detail.clone(),
            data: self.data().cloned(),
        }
    }

    fn display(&self) -> String {
        match &self.0.detail {
            Some(detail) => format!("{}: {detail}", self.0.message),
            None => self.0.message.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method;

    #[test]
    fn a_peers_error_is_passed_on_unchanged() {
        let mut error = ErrorObject::new(-32011, "odd");
        error.data = Some(Raw::parse("{\"big\":123456789012345678901234567890}").unwrap());
        let fault = Fault::from_peer(error.clone(), Era::Legacy, method::TOOLS_CALL);
        assert_eq!(fault.to_error(Era::Modern), error);
        assert_eq!(fault.original_mcp_code(), Some(-32011));
    }

    #[test]
    fn our_own_error_carries_the_stable_code_and_not_the_detail() {
        let fault = Fault::new(FaultKind::Timeout, "no answer in 60 s").with_detail("pid 7");
        let error = fault.to_error(Era::Modern);
        assert!(!(-32768..=-32000).contains(&error.code));
        assert_eq!(error.data.unwrap().as_str(), r#"{"code":"timeout","appCode":"E202","retryable":true}"#);
        assert!(!error.message.contains("pid"));
        assert_eq!(fault.to_string(), "no answer in 60 s: pid 7");
    }
}
