//! Answers of REST: the body of a finished execution, and errors.

use crate::http::{Body, json, with_retry_after};
use ::http::{Response, StatusCode};
use serde_json::{Value, json};
use std::time::{Instant, SystemTime};
use trunkline_protocol::{
    Fault, FaultKind, Object, Raw,
    fault::{CATALOGUE, Entry},
    message::meta::{CODE, ERROR_DATA},
    time::iso_8601,
};
use trunkline_resilience::OutOfMemory;

/// An error, with the code that says what to do about it.
#[derive(Debug, Clone)]
pub(crate) struct RestError {
    status: StatusCode,
    code: &'static str,
    message: String,
    details: Object,
    retry_after: Option<u64>,
}

/// The facts about an execution that its answer carries.
#[derive(Debug, Clone)]
pub(super) struct Execution {
    pub(super) id: String,
    pub(super) started: Instant,
}

/// A finished execution: its HTTP status and its body.
#[derive(Debug, Clone)]
pub(super) struct Finished {
    pub(super) status: StatusCode,
    pub(super) body: Raw,
    retry_after: Option<u64>,
}

impl RestError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), details: Object::new(), retry_after: None }
    }

    /// A part of the request that is not as it must be.
    pub(crate) fn invalid(field: &str, reason: &str, provided: Value) -> Self {
        let message = format!("`{field}` is not valid: {reason}");
        let mut error = Self::new(StatusCode::BAD_REQUEST, "VALIDATION_ERROR", message);
        error.details.set("field", Raw::string(field));
        error.details.set("reason", Raw::string(reason));
        error.details.set("provided", provided.into());
        error
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

    pub(crate) fn no_such_path(path: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "TOOL_NOT_FOUND", format!("there is nothing at {path}"))
    }

    pub(crate) fn of_fault(fault: &Fault) -> Self {
        let entry = fault.entry();
        let mut error = Self::of_entry(entry, fault.message());
        if let Some(data) = fault.data().and_then(Raw::object) {
            error.retry_after = data.get("retryAfter").and_then(|wait| wait.decode().ok());
            for (name, value) in data.iter() {
                error.details.set(name.to_owned(), value.clone());
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
        error.details.set("suggestedAction", Raw::string(entry.suggested_action));
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
            error.details.set("data", data);
        }
        error.details.set("result", result.clone());
        error
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

impl Execution {
    pub(super) fn finished(&self, outcome: Result<Raw, RestError>) -> Finished {
        let outcome = outcome.and_then(|result| {
            let failed = result.member_as::<bool>("isError") == Some(true);
            if failed { Err(RestError::of_result(&result)) } else { Ok(result) }
        });
        let mut body = Object::new();
        body.set("success", json!(outcome.is_ok()).into());
        match &outcome {
            Ok(result) => body.set("result", without_protocol_members(result)),
            Err(error) => body.set("error", error.to_raw()),
        }
        body.set("metadata", self.metadata());
        let (status, retry_after) =
            outcome.map_or_else(|error| (error.status, error.retry_after), |_| (StatusCode::OK, None));
        Finished { status, body: body.to_raw(), retry_after }
    }

    /// The answer in place of a result for which no memory is left. The tool has run.
    pub(super) fn dropped(&self, full: OutOfMemory) -> Finished {
        let fault = Fault::new(FaultKind::Overloaded, format!("the result was dropped: {full}"));
        self.finished(Err(RestError::of_fault(&fault.harmful_to_repeat())))
    }

    fn metadata(&self) -> Raw {
        json!({
            "executionId": self.id,
            "duration": u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "timestamp": iso_8601(SystemTime::now()),
        })
        .into()
    }
}

impl Finished {
    pub(super) fn respond(self) -> Response<Body> {
        with_retry_after(json(self.status, self.body.bytes().clone()), self.retry_after)
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
