//! Answers of REST: the body of a finished execution, and errors.

use crate::http::{Body, json, with_retry_after};
use ::http::{Response, StatusCode};
use serde_json::{Value, json};
use std::{
    borrow::Cow,
    time::{Duration, Instant, SystemTime},
};
use trunkline_protocol::{
    Fault, FaultKind, Object, Outcome, Raw,
    fault::{CATALOGUE, Entry},
    message::meta::{CODE, ERROR_DATA},
    time::iso_8601,
};
use trunkline_resilience::{OutOfMemory, hold};
use trunkline_store::StoreError;

/// Members of a stored error's data that repeat its row of the catalogue.
const OF_THE_CATALOGUE: [&str; 4] = ["code", "appCode", "userMessage", ACTION];
/// The advice, which a fault of ours may replace.
const ACTION: &str = "suggestedAction";

/// Longest value of a request that an error repeats, in bytes of JSON.
const MAX_PROVIDED: usize = 1024;
/// Seconds after which a read that found no memory may be repeated.
const A_MOMENT: u64 = 1;

/// An error, with the code that says what to do about it.
#[derive(Debug, Clone)]
pub(crate) struct RestError {
    status: StatusCode,
    code: &'static str,
    message: String,
    details: Object,
    retry_after: Option<u64>,
}

/// A finished execution: its HTTP status and its body.
#[derive(Debug, Clone)]
pub(super) struct Finished {
    pub(super) status: StatusCode,
    members: Object,
    retry_after: Option<u64>,
}

impl RestError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), details: Object::new(), retry_after: None }
    }

    /// A part of the request that is not as it must be. The error repeats the start of a long one.
    pub(crate) fn invalid(field: &str, reason: &str, provided: Value) -> Self {
        let (field, provided) = (shortened(field), Raw::from(provided));
        let provided = match provided.as_str() {
            short if short.len() <= MAX_PROVIDED => provided,
            long => Raw::string(&shortened(long)),
        };
        let message = format!("`{field}` is not valid: {reason}");
        let mut error = Self::new(StatusCode::BAD_REQUEST, "VALIDATION_ERROR", message);
        error.details.set("field", Raw::string(&field));
        error.details.set("reason", Raw::string(reason));
        error.details.set("provided", provided);
        error
    }

    /// Names the part of the request that the error is about.
    #[must_use]
    pub(super) fn about(mut self, field: &str) -> Self {
        self.details.set("field", Raw::string(field));
        self
    }

    #[must_use]
    pub(super) fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    #[cfg(test)]
    pub(super) fn field(&self) -> Option<String> {
        self.details.get("field").and_then(|field| field.decode().ok())
    }

    pub(crate) fn no_such_tool(name: &str) -> Self {
        let mut error = Self::new(
            StatusCode::NOT_FOUND,
            "TOOL_NOT_FOUND",
            format!("there is no tool `{name}` here, or you may not use it"),
        );
        error.details.set("provided", Raw::string(name));
        error
    }

    pub(super) fn no_such_execution(id: &str) -> Self {
        let text = "there is no such execution, or it is not yours";
        let mut error = Self::new(StatusCode::NOT_FOUND, "EXECUTION_NOT_FOUND", text);
        error.details.set("provided", Raw::string(id));
        error
    }

    pub(super) fn of_store(error: &StoreError) -> Self {
        tracing::error!(%error, "the store failed");
        let text = "executions cannot be stored or read now; try again later";
        Self::of_fault(&Fault::new(FaultKind::StoreUnavailable, text))
    }

    pub(crate) fn no_such_path(path: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "TOOL_NOT_FOUND", format!("there is nothing at {path}"))
    }

    pub(crate) fn of_fault(fault: &Fault) -> Self {
        let entry = fault.entry();
        let mut error = Self::of_entry(entry, fault.message());
        if let Some(data) = fault.data().and_then(Raw::object) {
            error.retry_after = data.get("retryAfter").and_then(|wait| wait.decode().ok());
            for (name, value) in data.iter().filter(|(name, _)| !OF_THE_CATALOGUE.contains(name)) {
                error.details.set(name.to_owned(), value.clone());
            }
            if let Some(action) = data.get(ACTION).filter(|_| fault.peer().is_none()) {
                error.details.set(ACTION, action.clone());
            }
        }
        error.details.set("retryable", json!(fault.retryable()).into());
        error
    }

    fn of_entry(entry: &Entry, message: &str) -> Self {
        // 499 is no registered status; the answer to a cancelled call is read only by a client
        // that did not cancel it itself.
        let status = if entry.http_status == 499 { 409 } else { entry.http_status };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut error = Self::new(status, entry.rest_code, message);
        error.details.set("errorCode", Raw::string(entry.code));
        error.details.set(ACTION, Raw::string(entry.suggested_action));
        error
    }

    /// The error of a result with `isError`. A tool of ours names the row of the catalogue.
    fn of_result(result: &Raw) -> Self {
        let message = text_of(result).unwrap_or_else(|| "the tool failed without a text".to_owned());
        let meta = result.member("_meta");
        let data = meta.as_ref().and_then(|meta| meta.member(ERROR_DATA));
        let code: Option<String> = meta.and_then(|meta| meta.member_as(CODE));
        let entry = code.and_then(|code| CATALOGUE.iter().find(|(_, entry)| entry.code == code));
        let mut error = match entry {
            Some((_, entry)) => Self::of_entry(entry, &message),
            None => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "EXECUTION_ERROR", message),
        };
        if error.status.is_server_error() && error.code == "EXECUTION_ERROR" {
            // The tool has answered, so no server failed.
            error.status = StatusCode::UNPROCESSABLE_ENTITY;
        }
        if let Some(data) = data {
            error.first_invalid(&data);
            error.details.set("data", data);
        }
        error.details.set("result", result.clone());
        error
    }

    /// Names the first argument that does not fit the tool's schema.
    fn first_invalid(&mut self, data: &Raw) {
        let invalid: Vec<Raw> = data.member_as("invalid").unwrap_or_default();
        let Some(first) = invalid.first() else { return };
        if let Some(pointer) = first.member_as::<String>("field") {
            self.details.set("field", Raw::string(&format!("params{}", pointer.replace('/', "."))));
        }
        if let Some(reason) = first.member("reason") {
            self.details.set("reason", reason);
        }
        if let Some(given) = first.member_as::<String>("given") {
            // A value that is missing or was truncated is no JSON.
            let missing = given == "nothing";
            let provided = if missing { Ok(Raw::null()) } else { Raw::parse(given.clone()) };
            self.details.set("provided", provided.unwrap_or_else(|_| Raw::string(&given)));
        }
    }

    fn to_raw(&self) -> Raw {
        let mut error = Object::new();
        error.set("code", Raw::string(self.code));
        error.set("message", Raw::string(&self.message));
        error.set("details", self.details.to_raw());
        error.to_raw()
    }

    /// The answer to a request that started no execution.
    pub(crate) fn respond(&self) -> Response<Body> {
        let mut body = Object::new();
        body.set("success", json!(false).into());
        body.set("error", self.to_raw());
        with_retry_after(json(self.status, body.to_raw().bytes().clone()), self.retry_after)
    }
}

impl Finished {
    /// The answer to a call that was made while the caller waited.
    pub(super) fn now(id: &str, started: Instant, outcome: &Outcome) -> Self {
        Self::of(id, outcome, started.elapsed(), SystemTime::now())
    }

    pub(super) fn of(id: &str, outcome: &Outcome, took: Duration, at: SystemTime) -> Self {
        let outcome = match outcome {
            Ok(result) if result.member_as::<bool>("isError") == Some(true) => {
                Err(RestError::of_result(result))
            }
            Ok(result) => Ok(without_protocol_members(result)),
            Err(fault) => Err(RestError::of_fault(fault)),
        };
        let mut members = Object::new();
        members.set("success", json!(outcome.is_ok()).into());
        let (status, retry_after) = match outcome {
            Ok(result) => {
                members.set("result", result);
                (StatusCode::OK, None)
            }
            Err(error) => {
                members.set("error", error.to_raw());
                (error.status, error.retry_after)
            }
        };
        let metadata = json!({
            "executionId": id,
            "duration": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            "timestamp": iso_8601(at),
        });
        members.set("metadata", metadata.into());
        Self { status, members, retry_after }
    }

    /// The response if no memory is left for the result. The tool has run, so a retry would run it
    /// again.
    pub(super) fn dropped(id: &str, started: Instant, full: OutOfMemory) -> Self {
        let fault = Fault::new(FaultKind::Overloaded, format!("the result was dropped: {full}"));
        Self::now(id, started, &Err(fault.harmful_to_repeat()))
    }

    pub(super) fn members(&self) -> &Object {
        &self.members
    }

    pub(super) fn body(&self) -> Raw {
        self.members.to_raw()
    }

    pub(super) fn respond(self) -> Result<Response<Body>, OutOfMemory> {
        let Self { status, members, retry_after } = self;
        let body = members.to_raw();
        // The result is in the body now. Its own memory is free if nobody else has it.
        drop(members);
        Ok(with_retry_after(counted(status, &body)?, retry_after))
    }
}

/// A response whose memory is counted until the client has read it.
pub(super) fn counted(status: StatusCode, body: &Raw) -> Result<Response<Body>, OutOfMemory> {
    Ok(json(status, hold(body.bytes().clone())?))
}

/// No memory is left for the answer to a request that only reads.
impl From<OutOfMemory> for RestError {
    fn from(full: OutOfMemory) -> Self {
        Self::of_fault(&Fault::new(FaultKind::Overloaded, full.to_string())).retry_after(A_MOMENT)
    }
}

/// The first part of a text that would make an error too long.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().map(|(at, _)| at).take_while(|at| *at <= MAX_PROVIDED).last() {
        Some(end) if text.len() > MAX_PROVIDED => format!("{}…", &text[..end]).into(),
        _ => text.into(),
    }
}

/// The result without `resultType`, which only says that it is one.
fn without_protocol_members(result: &Raw) -> Raw {
    let Some(mut members) = result.object() else { return result.clone() };
    if members.remove("resultType").is_none() { result.clone() } else { members.to_raw() }
}

/// The texts of a result, one per line.
fn text_of(result: &Raw) -> Option<String> {
    let content: Vec<Raw> = result.member_as("content")?;
    let texts: Vec<String> = content.iter().filter_map(|block| block.member_as("text")).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
