//! Converts transport and process errors into faults of the error catalogue.

use crate::inbox::{Loss, LossKind};
use std::time::Duration;
use trunkline_process::{Ending, SpawnError, Stream};
use trunkline_protocol::{Fault, FaultKind};
use trunkline_transport::{
    http::{HttpError, StatusError},
    stdio::SendError,
};

/// Lines of a process's error output that are shown after its exit.
const LAST_LINES: usize = 8;
/// Longest `Retry-After` of a server that is honoured and passed on.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);
const NOT_SENT: &str = "no memory is left to send the request; see `limits.memoryBytes`";
/// Characters of a refusal's body that are shown.
const BODY_SHOWN: usize = 300;

pub(crate) fn fault_of_http(error: &HttpError) -> Fault {
    let (kind, message) = match error {
        HttpError::InvalidUrl(_) => (FaultKind::UrlInvalid, "the URL cannot be used"),
        HttpError::Connect(_) => (FaultKind::CannotConnect, "the server cannot be reached"),
        HttpError::Tls(_) => (FaultKind::CannotConnect, "no secure connection to the server"),
        HttpError::Status(refusal) => return fault_of_status(refusal),
        HttpError::TooLarge { .. } => (FaultKind::TooLarge, "the server's answer is too large"),
        HttpError::OutOfMemory(_) => return out_of_memory(),
        HttpError::NotSent(_) => (FaultKind::Overloaded, NOT_SENT),
        HttpError::UnexpectedContentType(_) | HttpError::UnexpectedEncoding { .. } => {
            (FaultKind::BadAnswer, "the server's answer is neither JSON nor an event stream")
        }
        HttpError::Redirect(_) | HttpError::ForeignEndpoint { .. } => {
            (FaultKind::UrlRefused, "the server refers to another address, which is not followed")
        }
        HttpError::NoEndpoint => (FaultKind::BadAnswer, "the event stream named no endpoint"),
        HttpError::Broken(_) => (FaultKind::ConnectionLost, "the connection broke"),
        HttpError::Timeout { .. } => (FaultKind::Timeout, "the server did not answer in time"),
    };
    let detail = match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    };
    Fault::new(kind, message).with_detail(detail)
}

/// The server answered, so the call has run.
pub(super) fn out_of_memory() -> Fault {
    Fault::new(FaultKind::Overloaded, "no memory is left for the server's answer; see `limits.memoryBytes`")
        .harmful_to_repeat()
}

pub(super) fn loss_of_http(error: &HttpError) -> Loss {
    let how = error.status().map_or(LossKind::Line, |refusal| LossKind::Status(refusal.status.as_u16()));
    Loss { fault: fault_of_http(error), how }
}

fn fault_of_status(refusal: &StatusError) -> Fault {
    let status = refusal.status;
    let kind = match status.as_u16() {
        401 => FaultKind::Unauthorized,
        403 => FaultKind::Forbidden,
        404 | 405 => FaultKind::NotAvailable,
        413 => FaultKind::TooLarge,
        429 => FaultKind::RateLimited,
        400..=499 => FaultKind::InvalidRequest,
        _ => FaultKind::Unavailable,
    };
    let mut fault = Fault::new(kind, format!("the server answered with HTTP status {status}"));
    if let Some(wait) = refusal.retry_after().filter(|_| matches!(status.as_u16(), 429 | 503)) {
        let seconds = wait.min(MAX_RETRY_AFTER).as_secs();
        fault = fault.with_data(serde_json::json!({"retryAfter": seconds}).into());
    }
    match explanation(refusal) {
        Some(text) => fault.with_detail(text),
        None => fault,
    }
}

fn explanation(refusal: &StatusError) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(wait) = refusal.retry_after() {
        parts.push(format!("it asks to wait {} s", wait.as_secs()));
    }
    parts.extend(
        refusal.www_authenticate().filter_map(|v| v.to_str().ok()).map(|v| format!("it asks for {v}")),
    );
    let body = String::from_utf8_lossy(&refusal.body);
    let body = body.trim();
    if !body.is_empty() {
        parts.push(body.chars().take(BODY_SHOWN).collect());
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

pub(crate) fn fault_of_spawn(error: &SpawnError) -> Fault {
    let kind = if error.is_transient() { FaultKind::Overloaded } else { FaultKind::CannotStart };
    Fault::new(kind, "the server's command cannot be started").with_detail(error.to_string())
}

pub(super) fn fault_of_send(error: &SendError) -> Fault {
    let (kind, message) = match error {
        SendError::Closed(_) | SendError::Finished => {
            (FaultKind::ConnectionLost, "the server no longer reads its input")
        }
        SendError::Stalled(_) => (FaultKind::Timeout, "the server does not read its input"),
        SendError::OutOfMemory(_) => (FaultKind::Overloaded, NOT_SENT),
        SendError::RawNewline => (FaultKind::InvalidRequest, "the message has a line break"),
    };
    Fault::new(kind, message).with_detail(error.to_string())
}

/// Describes the exit of a process, with its last error output.
pub(super) fn exit_report(ending: Ending, stderr: &Stream) -> String {
    let lines = stderr.last_lines(LAST_LINES);
    if lines.is_empty() {
        return format!("it {ending} and wrote nothing to its error output");
    }
    format!("it {ending}; its last error output:\n{}", lines.join("\n"))
}
