//! The outcome of a call as one word.

use trunkline_protocol::{
    FaultKind, Outcome,
    message::{failure_kind, says_error},
    method,
};

/// The outcome of a call as recorded in the trail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) word: &'static str,
    /// The error's code in the error catalogue.
    pub(super) code: Option<&'static str>,
    pub(super) bytes: Option<usize>,
}

impl Ending {
    /// The caller disconnected or cancelled the call.
    pub(super) const CANCELLED: Self = Self::word("cancelled");

    /// The handler panicked.
    pub(super) const PANICKED: Self = Self::word("panicked");

    /// The process died before the call ended: it may have run.
    pub(super) const UNKNOWN: Self = Self::word("unknown");

    /// The call was not made because it could not be recorded.
    pub(super) const UNRECORDABLE: Self = Self::word("refused");

    const fn word(word: &'static str) -> Self {
        Self { word, code: None, bytes: None }
    }

    pub(super) fn of(asked: &str, outcome: &Outcome) -> Self {
        match outcome {
            Ok(result) => {
                let failed = asked == method::TOOLS_CALL && says_error(result);
                let kind = failed.then(|| failure_kind(result)).flatten();
                let word = match kind {
                    None | Some(FaultKind::ToolFailed) => {
                        if failed {
                            "tool_error"
                        } else {
                            "ok"
                        }
                    }
                    Some(kind) => word(kind),
                };
                let code = kind.map(|kind| kind.entry().code);
                Self { word, code, bytes: Some(result.as_bytes().len()) }
            }
            Err(fault) => Self { code: Some(fault.entry().code), ..Self::word(word(fault.kind())) },
        }
    }
}

fn word(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Unauthorized | FaultKind::Forbidden | FaultKind::Declined | FaultKind::UrlRefused => {
            "denied"
        }
        FaultKind::InvalidRequest
        | FaultKind::NotAvailable
        | FaultKind::CapabilityMissing
        | FaultKind::ClientCapabilityMissing
        | FaultKind::HeaderMismatch
        | FaultKind::UnsupportedRevision
        | FaultKind::ResourceNotFound
        | FaultKind::TooLarge => "invalid",
        FaultKind::RateLimited | FaultKind::Overloaded => "limited",
        FaultKind::Timeout => "timed_out",
        FaultKind::Cancelled => "cancelled",
        _ => "failed",
    }
}
