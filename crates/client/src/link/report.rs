//! Converts transport and process errors into faults of the error catalogue.

use crate::inbox::{Loss, LossKind};
use ::http::StatusCode;
use std::time::Duration;
use trunkline_process::{Ending, SpawnError, Stream};
use trunkline_protocol::{Fault, FaultKind};
use trunkline_transport::{
    http::{Challenge, CredentialsError, HttpError, StatusError, TlsError},
    stdio::SendError,
};

/// Lines of a process's error output that are shown after its exit.
const LAST_LINES: usize = 8;
/// Longest `Retry-After` of a server that is honoured and passed on.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);
const NOT_SENT: &str = "no memory is left to send the request; see `limits.memoryBytes`";
/// Advice for a 401 that does not lead to an authorization server.
const GIVE_KEY: &str =
    "Give a key or token with --header 'Authorization: Bearer …', or with `headers` in the configuration";
/// The words with which web servers answer a plain request at a port for TLS: ours, Go, nginx,
/// Apache.
const PLAIN_AT_TLS: [&str; 4] = [
    "this port speaks TLS",
    "sent an HTTP request to an HTTPS server",
    "plain HTTP request was sent to HTTPS port",
    "speaking plain HTTP to an SSL-enabled server port",
];
/// Bytes of a refusal's message that are shown.
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
        HttpError::Credentials(error) => return fault_of_credentials(error),
        HttpError::Timeout { .. } => (FaultKind::Timeout, "the server did not answer in time"),
    };
    // For other errors the catalogue's advice says the same.
    let hint = error.hint().filter(|_| matches!(error, HttpError::Tls(_)));
    let detail = match hint {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    };
    Fault::new(kind, message).with_detail(detail)
}

/// There is no valid token, and the request was not sent.
fn fault_of_credentials(error: &CredentialsError) -> Fault {
    let kind = if error.transient { FaultKind::Unavailable } else { FaultKind::Unauthorized };
    let fault = Fault::new(kind, error.message.clone());
    match &error.action {
        // The action is also the detail, because logs show only that, and data for the callers of a
        // gateway, where the advice of the catalogue would be wrong.
        Some(action) => fault
            .with_detail(action.clone())
            .with_action(action.clone())
            .with_data(serde_json::json!({"suggestedAction": action}).into()),
        None => fault,
    }
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
    if status == StatusCode::BAD_REQUEST && expects_tls(&refusal.body) {
        return fault_of_http(&HttpError::Tls(Box::new(TlsError::PlainRequest)));
    }
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
    if status == StatusCode::UNAUTHORIZED && !names_metadata(refusal) {
        fault = fault.with_action(GIVE_KEY);
    }
    match explanation(refusal) {
        Some(text) => fault.with_detail(text),
        None => fault,
    }
}

fn names_metadata(refusal: &StatusError) -> bool {
    let texts = refusal.www_authenticate().filter_map(|value| value.to_str().ok());
    texts.flat_map(Challenge::read).any(|challenge| challenge.get("resource_metadata").is_some())
}

fn expects_tls(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body);
    PLAIN_AT_TLS.iter().any(|words| text.contains(words))
}

fn explanation(refusal: &StatusError) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(wait) = refusal.retry_after() {
        parts.push(format!("it asks to wait {} s", wait.as_secs()));
    }
    parts.extend(
        refusal.www_authenticate().filter_map(|v| v.to_str().ok()).map(|v| format!("it asks for {v}")),
    );
    parts.extend(sentence(&refusal.body).map(|text| format!("the server says: {}", shortened(&text))));
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The part of an error response that is meant for people: the message inside of a JSON object, or
/// the text. Pages for browsers have none.
fn sentence(body: &[u8]) -> Option<String> {
    /// As in OAuth, JSON-RPC, RFC 9457 and the usual web frameworks; the most telling one first.
    const MESSAGES: [&str; 7] =
        ["/error_description", "/error/message", "/detail", "/message", "/error", "/title", "/reason"];
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::String(text)) => Some(text),
        Ok(json) => MESSAGES.iter().find_map(|path| Some(json.pointer(path)?.as_str()?.trim().to_owned())),
        Err(_) if text.starts_with('<') => None,
        Err(_) => Some(text.to_owned()),
    }
    .filter(|text| !text.is_empty())
}

/// Cuts a long text after a word.
fn shortened(text: &str) -> String {
    if text.len() <= BODY_SHOWN {
        return text.to_owned();
    }
    let start = &text[..text.floor_char_boundary(BODY_SHOWN)];
    let end = start.rfind(char::is_whitespace).unwrap_or(start.len());
    format!("{} …", start[..end].trim_end())
}

pub(crate) fn fault_of_spawn(error: &SpawnError) -> Fault {
    let kind = if error.is_transient() { FaultKind::Overloaded } else { FaultKind::CannotStart };
    let detail = match std::error::Error::source(error) {
        Some(reason) => format!("{error}: {reason}"),
        None => error.to_string(),
    };
    Fault::new(kind, "the server's command cannot be started").with_detail(detail)
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
