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
    /// Advice for this case, in place of the catalogue's.
    action: Option<String>,
    /// The JSON-RPC code to send where the specification asks for another than the catalogue's.
    rpc_code: Option<i64>,
    /// The code of a peer's error that led to this fault.
    original: Option<i64>,
    repeats: Repeats,
}

/// If the call that failed can be made again without running twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeats {
    Unknown,
    Harmless,
    Refused,
}

/// A fault in machine-readable form: requirement C2's six fields, and the stable name.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub code: &'static str,
    pub name: &'static str,
    pub message: String,
    pub user_message: &'static str,
    pub suggested_action: String,
    pub retryable: bool,
    pub original_mcp_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Raw>,
}

impl Fault {
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            detail: None,
            peer: None,
            data: None,
            action: None,
            rpc_code: None,
            original: None,
            repeats: Repeats::Unknown,
        }))
    }

    /// The fault for an error that a peer returned to `method`, classified by the catalogue. An
    /// error of the catalogue itself, from another Trunkline, keeps its kind.
    pub fn from_peer(error: ErrorObject, era: Era, method: &str) -> Self {
        let ours = reading::from_catalogue(&error);
        let kind = ours.map_or_else(|| reading::kind_of(error.code, era, method), |(kind, _)| kind);
        let mut fault = Self::new(kind, error.message.clone());
        fault.0.repeats = match ours {
            Some((_, true)) => Repeats::Harmless,
            Some((_, false)) => Repeats::Refused,
            None => Repeats::Unknown,
        };
        fault.0.original = reading::original_code(&error).or(Some(error.code));
        fault.0.peer = Some(error);
        fault
    }

    /// Replaces the text, for a peer's error in a situation that its text does not tell. It is then
    /// our error: the peer's code is kept as the original code.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        if let Some(peer) = self.0.peer.take() {
            self.0.data = self.0.data.or(peer.data);
        }
        self
    }

    /// Sends this JSON-RPC code in place of the catalogue's.
    #[must_use]
    pub fn with_rpc_code(mut self, code: i64) -> Self {
        self.0.rpc_code = Some(code);
        self
    }

    /// Notes that the call may be made twice, so that it may be repeated even if it has run.
    #[must_use]
    pub fn harmless_to_repeat(mut self) -> Self {
        self.0.repeats = Repeats::Harmless;
        self
    }

    /// Notes that the call has run, or may have, so that repeating it may do harm.
    #[must_use]
    pub fn harmful_to_repeat(mut self) -> Self {
        self.0.repeats = Repeats::Refused;
        self
    }

    /// Adds a detail for the log and the local user, which is never sent to a peer.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Advice for the local user in place of the catalogue's, which peers still get.
    #[must_use]
    pub fn with_action(mut self, action: impl Into<String>) -> Self {
        self.0.action = Some(action.into());
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

    /// The advice for the local user.
    pub fn action(&self) -> &str {
        self.0.action.as_deref().unwrap_or(self.entry().suggested_action)
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

    /// True if the same call may succeed later and does no harm if it has run already.
    pub fn retryable(&self) -> bool {
        self.entry().retryable
            && match self.0.repeats {
                Repeats::Unknown => !self.0.kind.may_have_run(),
                Repeats::Harmless => true,
                Repeats::Refused => false,
            }
    }

    /// True if a circuit breaker counts it as a failure of the server: its kind is retryable, or
    /// the answer breaks the protocol. Two retryable kinds ask something of the caller and show
    /// that the server works, and an overload that no peer reported is our own.
    pub fn counts_against_server(&self) -> bool {
        let kind = self.kind();
        let asks_caller = matches!(kind, FaultKind::HeaderMismatch | FaultKind::UrlElicitationRequired);
        let is_ours = kind == FaultKind::Overloaded && self.peer().is_none();
        kind == FaultKind::BadAnswer || (self.entry().retryable && !asks_caller && !is_ours)
    }

    /// The peer's error object, if the fault was received from a peer.
    pub fn peer(&self) -> Option<&ErrorObject> {
        self.0.peer.as_ref()
    }

    pub fn original_mcp_code(&self) -> Option<i64> {
        self.0.original
    }

    /// The `data` of the error object, received or to be sent.
    pub fn data(&self) -> Option<&Raw> {
        self.0.data.as_ref().or(self.0.peer.as_ref().and_then(|e| e.data.as_ref()))
    }

    /// The error object to send: the peer's error unchanged, or ours with the fields of the
    /// catalogue in `data` (requirement C2).
    pub fn to_error(&self, era: Era) -> ErrorObject {
        if let Some(peer) = &self.0.peer {
            return peer.clone();
        }
        let entry = self.entry();
        let code = self.0.rpc_code.unwrap_or_else(|| entry.rpc_code(era));
        let mut error = ErrorObject::new(code, self.message());
        let mut data = self.0.data.as_ref().and_then(Raw::object).unwrap_or_default();
        for (name, value) in [
            ("code", entry.name),
            ("appCode", entry.code),
            ("userMessage", entry.user_message),
            ("suggestedAction", entry.suggested_action),
        ] {
            if data.get(name).is_none() {
                data.set(name, Raw::string(value));
            }
        }
        data.set("retryable", serde_json::Value::from(self.retryable()).into());
        if let Some(original) = self.0.original {
            data.set("originalMcpCode", serde_json::Value::from(original).into());
        }
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
            suggested_action: self.action().to_owned(),
            retryable: self.retryable(),
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
    fn a_breaker_counts_failures_of_the_server_and_no_others() {
        let from_peer = |code| Fault::from_peer(ErrorObject::new(code, "x"), Era::Legacy, method::TOOLS_CALL);
        for code in [-32603, -32000, 4711] {
            assert!(from_peer(code).counts_against_server(), "{code}");
        }
        for code in [-32602, -32601, -32020, -32042] {
            assert!(!from_peer(code).counts_against_server(), "{code}");
        }
        let ours = |kind| Fault::new(kind, "x").counts_against_server();
        assert!(ours(FaultKind::Timeout) && ours(FaultKind::ServerExited) && ours(FaultKind::BadAnswer));
        assert!(!ours(FaultKind::Overloaded), "our own limit says nothing about the server");
    }

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
        let want = r#"{"code":"timeout","appCode":"E202","userMessage":"The server did not answer in time","suggestedAction":"Try again, or allow more time with --timeout","retryable":false}"#;
        assert_eq!(error.data.unwrap().as_str(), want);
        assert!(!error.message.contains("pid"));
        assert_eq!(fault.to_string(), "no answer in 60 s: pid 7");
    }

    #[test]
    fn our_own_errors_are_read_back_as_what_they_were() {
        for (kind, retryable) in [
            (FaultKind::Timeout, false),
            (FaultKind::ConnectionLost, false),
            (FaultKind::Overloaded, true),
            (FaultKind::NotAvailable, false),
        ] {
            let sent = Fault::new(kind, "text").with_rpc_code(-32603).to_error(Era::Legacy);
            let read = Fault::from_peer(sent, Era::Legacy, method::TOOLS_CALL);
            assert_eq!((read.kind(), read.retryable()), (kind, retryable));
        }
        let harmless = Fault::new(FaultKind::Timeout, "text").harmless_to_repeat();
        let read = Fault::from_peer(harmless.to_error(Era::Modern), Era::Modern, method::TOOLS_CALL);
        assert_eq!((read.kind(), read.retryable()), (FaultKind::Timeout, true));
        // Another server's own use of the same member names means nothing to us.
        let mut theirs = ErrorObject::new(-32603, "no");
        theirs.data = Some(serde_json::json!({"appCode": "E202", "code": "theirs"}).into());
        let read = Fault::from_peer(theirs, Era::Legacy, method::TOOLS_CALL);
        assert_eq!(read.kind(), FaultKind::Unavailable);
    }

    #[test]
    fn a_peers_error_with_our_text_names_its_code() {
        let refused = Fault::from_peer(ErrorObject::new(-32000, "no"), Era::Legacy, method::INITIALIZE);
        let error = refused.with_message("the handshake: no").to_error(Era::Legacy);
        assert_eq!(error.message, "the handshake: no");
        assert_eq!(error.data.unwrap().member_as::<i64>("originalMcpCode"), Some(-32000));
    }
}
