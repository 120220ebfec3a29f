//! `POST …/tools/{name}/execute`.

use super::{
    Marks,
    answer::RestError,
    queue::Priority,
    run::{Order, Run},
    stream::RestStream,
};
use crate::http::{AdmittedRequest, Body, BodyRefusal, EventSource, Events, events, read_body};
use ::http::{HeaderMap, Response, header};
use bytes::Bytes;
use serde_json::{Map, Value};
use std::time::Duration;
use trunkline_http1::server::{HalfClose, Pending, RequestBody};
use trunkline_protocol::Raw;

pub(super) fn execute(
    request: AdmittedRequest,
    tool: String,
    body: RequestBody,
    marks: Marks,
) -> Pending<Body> {
    let then = move |request: AdmittedRequest, bytes: &Bytes| {
        let longest = request.service.options.rest.timeout;
        match read(tool, bytes, longest) {
            Ok(order) => Pending::running(answer(request, order, marks), HalfClose::Cancels),
            Err(error) => Pending::ready(marks.on(error.respond())),
        }
    };
    read_body(request, body, then, refuse)
}

fn refuse(refusal: BodyRefusal) -> Response<Body> {
    let wait = refusal.retry_after();
    let code = if wait.is_some() { "RATE_LIMIT_ERROR" } else { "VALIDATION_ERROR" };
    let error = RestError::new(refusal.status, code, refusal.text);
    wait.map_or(error.clone(), |wait| error.retry_after(wait)).respond()
}

async fn answer(request: AdmittedRequest, order: Order, marks: Marks) -> Response<Body> {
    let run = Run::new(&request.service, request.caller.clone(), &order);
    if !wants_events(&request.headers) {
        return marks.on(run.finish().await.respond());
    }
    let keep_alive = request.service.options.limits.keep_alive;
    let source =
        EventSource { events: Events::Rest(Box::new(RestStream::new(run))), phase: request.service.phase() };
    marks.on(events(Body::events(None, source, keep_alive)))
}

/// True if `Accept` names event streams.
fn wants_events(headers: &HeaderMap) -> bool {
    let named = |value: &str| value.to_ascii_lowercase().contains("text/event-stream");
    headers.get_all(header::ACCEPT).iter().any(|value| value.to_str().is_ok_and(named))
}

/// Reads `{"params": {…}, "context": {"sessionId", "userId", "timeout", "priority"}}`. Types are
/// not converted, and a member that does not exist is an error, so that a typing error shows.
fn read(tool: String, body: &Bytes, longest: Duration) -> Result<Order, RestError> {
    let body = Raw::parse(body.clone())
        .map_err(|error| RestError::invalid("body", &error.to_string(), Value::Null))?;
    let not_object = || RestError::invalid("body", "it must be an object", Value::Null);
    let members = body.object().ok_or_else(not_object)?;
    for (name, value) in members.iter() {
        if !["params", "context"].contains(&name) {
            return Err(unknown(name, value.decode().unwrap_or_default()));
        }
    }
    let arguments = members.get("params").cloned();
    if let Some(arguments) = arguments.as_ref().filter(|arguments| !arguments.is_object()) {
        let provided = arguments.decode().unwrap_or_default();
        return Err(RestError::invalid("params", "it must be an object", provided));
    }
    let context = match members.get("context").map(Raw::decode) {
        None => Map::new(),
        Some(Ok(Value::Object(context))) => context,
        Some(other) => {
            let provided = other.unwrap_or_default();
            return Err(RestError::invalid("context", "it must be an object", provided));
        }
    };
    let (limit, priority) = read_context(&context, longest)?;
    Ok(Order { tool, arguments, limit, priority })
}

fn read_context(context: &Map<String, Value>, longest: Duration) -> Result<(Duration, Priority), RestError> {
    let (mut limit, mut priority) = (longest, Priority::default());
    for (name, value) in context {
        let wrong = |reason| RestError::invalid(&format!("context.{name}"), reason, value.clone());
        match name.as_str() {
            "timeout" => {
                let millis = value.as_u64().filter(|millis| *millis > 0);
                let millis = millis.ok_or_else(|| wrong("it must be a positive number of milliseconds"))?;
                limit = Duration::from_millis(millis).min(longest);
            }
            "priority" => {
                priority = match value.as_str() {
                    Some("low") => Priority::Low,
                    Some("normal") => Priority::Normal,
                    Some("high") => Priority::High,
                    _ => return Err(wrong("it must be \"low\", \"normal\" or \"high\"")),
                };
            }
            // They are the client's own notes: who calls is known from the credentials.
            "sessionId" | "userId" if value.is_string() => {}
            "sessionId" | "userId" => return Err(wrong("it must be a text")),
            _ => return Err(unknown(&format!("context.{name}"), value.clone())),
        }
    }
    Ok((limit, priority))
}

fn unknown(field: &str, provided: Value) -> RestError {
    RestError::invalid(field, "there is no such member", provided)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_mins(5);

    fn order(body: &str) -> Result<Order, RestError> {
        read("t".to_owned(), &Bytes::copy_from_slice(body.as_bytes()), LONGEST)
    }

    #[test]
    fn h1_a_body_is_read_without_converting_types() {
        let full = r#"{"params":{"a":1.50},"context":{"sessionId":"s","userId":"u","timeout":1000,"priority":"high"}}"#;
        let order = order(full).unwrap();
        assert_eq!(order.arguments.unwrap().as_str(), r#"{"a":1.50}"#);
        assert_eq!((order.limit, order.priority), (Duration::from_secs(1), Priority::High));
    }

    #[test]
    fn h6_a_timeout_is_clamped() {
        assert_eq!(order(r#"{"context":{"timeout":99999999}}"#).unwrap().limit, LONGEST);
        assert_eq!(order("{}").unwrap().limit, LONGEST);
    }

    #[test]
    fn h3_a_wrong_member_is_named() {
        for (body, field) in [
            ("[]", "body"),
            ("{", "body"),
            (r#"{"params":[]}"#, "params"),
            (r#"{"parms":{}}"#, "parms"),
            (r#"{"context":7}"#, "context"),
            (r#"{"context":{"timeout":"5"}}"#, "context.timeout"),
            (r#"{"context":{"timeout":0}}"#, "context.timeout"),
            (r#"{"context":{"priority":"urgent"}}"#, "context.priority"),
            (r#"{"context":{"userId":1}}"#, "context.userId"),
            (r#"{"context":{"x":1}}"#, "context.x"),
        ] {
            let error = order(body).err().unwrap_or_else(|| panic!("{body} was accepted"));
            assert_eq!(error.field().as_deref(), Some(field), "{body}");
        }
    }
}
