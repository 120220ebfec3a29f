//! `POST …/tools/{name}/execute`.

use super::{
    Marks,
    answer::{Finished, RestError},
    executions::{Reader, time_left, watch},
    stream::RestStream,
};
use crate::{
    execution::{
        Begun, Claim, NotBegun,
        queue::{Applicant, Priority},
        queued,
        record::{Owner, Record},
        run::{Order, Questions, Run},
    },
    http::{AdmittedRequest, Body, BodyRefusal, EventSource, Events, events, read_body},
};
use ::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::time::Duration;
use trunkline_http1::server::{HalfClose, Pending, RequestBody};
use trunkline_protocol::Raw;

const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// Longest idempotency key.
const MAX_KEY: usize = 255;
/// Time that an execution has after its deadline to write its end down.
const GRACE: Duration = Duration::from_secs(10);

/// The body of a request.
struct Asked {
    arguments: Option<Raw>,
    limit: Duration,
    priority: Priority,
    mode: Mode,
}

/// The answer that the client wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The result, as JSON.
    Sync,
    /// The execution, at once.
    Async,
    /// Events.
    Stream,
}

pub(super) fn execute(
    request: AdmittedRequest,
    tool: String,
    body: RequestBody,
    marks: Marks,
) -> Pending<Body> {
    let then = move |request: AdmittedRequest, bytes: &Bytes| {
        let longest = request.service.options.rest.timeout;
        let mut read = read(bytes, longest);
        if let Ok(asked) = &mut read
            && asked.mode == Mode::Sync
            && wants_events(&request.headers)
        {
            asked.mode = Mode::Stream;
        }
        let key = idempotency_key(&request.headers);
        match read.and_then(|asked| Ok((asked, key?))) {
            Err(error) => Pending::ready(marks.on(error.respond())),
            Ok((asked, None)) if asked.mode != Mode::Async => {
                Pending::running(answer(request, tool, asked, marks), HalfClose::Cancels)
            }
            Ok((asked, key)) => {
                let answered = async move {
                    marks.on(begin(&request, tool, asked, key).await.unwrap_or_else(|error| error.respond()))
                };
                // A client that sends nothing more may still want to know the id.
                Pending::running(answered, HalfClose::Continues)
            }
        }
    };
    read_body(request, body, then, refuse)
}

pub(super) fn refuse(refusal: BodyRefusal) -> Response<Body> {
    let wait = refusal.retry_after();
    let code = if wait.is_some() { "RATE_LIMIT_ERROR" } else { "VALIDATION_ERROR" };
    let error = RestError::new(refusal.status, code, refusal.text);
    wait.map_or(error.clone(), |wait| error.retry_after(wait)).respond()
}

/// A call that ends with its request. It touches no store.
async fn answer(request: AdmittedRequest, tool: String, asked: Asked, marks: Marks) -> Response<Body> {
    let (id, mode) = (crate::era::unguessable(), asked.mode);
    let order = asked.order(&request, tool, id.clone(), Questions::Decline);
    let run = Run::new(&request.service, request.caller.clone(), order);
    if mode == Mode::Sync {
        let started = run.started;
        let outcome = run.finish().await;
        let finished = Finished::now(&id, started, &outcome);
        drop(outcome);
        let answer = finished.respond().or_else(|full| Finished::dropped(&id, started, full).respond());
        return marks.on(answer.unwrap_or_else(|full| RestError::from(full).respond()));
    }
    let keep_alive = request.service.options.limits.keep_alive;
    let stream = RestStream::of_call(id, run);
    let source = EventSource { events: Events::Rest(Box::new(stream)), phase: request.service.phase() };
    marks.on(events(Body::events(None, source, keep_alive)))
}

/// A call that outlives its request.
async fn begin(
    request: &AdmittedRequest,
    tool: String,
    asked: Asked,
    key: Option<String>,
) -> Result<Response<Body>, RestError> {
    let (service, mode) = (&request.service, asked.mode);
    // Before the tool runs.
    let watch = if mode == Mode::Async { None } else { watch(request)? };
    let owner = Owner::of(&request.caller);
    let claim = key.map(|key| {
        let arguments = asked.arguments.as_ref().map_or(&b"{}"[..], Raw::as_bytes);
        Claim::new(&owner, &key, &[service.path.as_bytes(), tool.as_bytes(), arguments])
    });
    let order = asked.order(request, tool, Record::new_id(&owner), Questions::Ask);
    let record = queued(&request.caller, &order, &service.path);
    let run = Run::new(service, request.caller.clone(), order);
    let begun = service.executions.begin(service, run, record, claim.as_ref()).await;
    let (Begun::New(record) | Begun::Known(record)) = begun.map_err(not_begun)?;
    let location = format!("/mcp{}/executions/{}", service.path, record.id);
    let limit = time_left(&record) + GRACE;
    let mut reader = Reader::new(service, record);
    let mut response = match mode {
        Mode::Async => reader.respond(StatusCode::ACCEPTED).await?,
        Mode::Stream => reader.stream(0, watch).await?,
        Mode::Sync => {
            reader.wait(limit, |record| record.state.is_final()).await?;
            match reader.finished().await? {
                Some(finished) => finished.respond()?,
                None => reader.respond(StatusCode::ACCEPTED).await?,
            }
        }
    };
    if let Ok(location) = HeaderValue::from_str(&location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

pub(super) fn not_begun(error: NotBegun) -> RestError {
    match error {
        NotBegun::Store(error) => error.into(),
        NotBegun::Refused(fault) => RestError::of_fault(&fault),
        NotBegun::Key(reused) => {
            RestError::new(StatusCode::UNPROCESSABLE_ENTITY, "VALIDATION_ERROR", reused.to_string())
                .about("Idempotency-Key")
        }
    }
}

impl Asked {
    fn order(self, request: &AdmittedRequest, tool: String, id: String, questions: Questions) -> Order {
        let applicant = Applicant { id, caller: request.caller.id.clone(), priority: self.priority };
        Order { tool, arguments: self.arguments, limit: self.limit, applicant, questions }
    }
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, RestError> {
    let Some(given) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    let key = given.to_str().ok().filter(|key| (1..=MAX_KEY).contains(&key.len()));
    let reason = format!("it must have 1 to {MAX_KEY} visible ASCII characters");
    let wrong =
        || RestError::invalid("Idempotency-Key", &reason, json!(String::from_utf8_lossy(given.as_bytes())));
    key.map(|key| Some(key.to_owned())).ok_or_else(wrong)
}

/// True if `Accept` names event streams.
fn wants_events(headers: &HeaderMap) -> bool {
    let named = |value: &str| value.to_ascii_lowercase().contains("text/event-stream");
    headers.get_all(header::ACCEPT).iter().any(|value| value.to_str().is_ok_and(named))
}

/// Reads `{"params": {…}, "context": {"sessionId", "userId", "timeout", "priority"}, "mode"}`.
/// Types are not converted, and a member that does not exist is an error, so that a typing error
/// shows.
fn read(body: &Bytes, longest: Duration) -> Result<Asked, RestError> {
    let body = Raw::parse(body.clone())
        .map_err(|error| RestError::invalid("body", &error.to_string(), Value::Null))?;
    let not_object = || RestError::invalid("body", "it must be an object", Value::Null);
    let members = body.object().ok_or_else(not_object)?;
    for (name, value) in members.iter() {
        if !["params", "context", "mode"].contains(&name) {
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
    let mode = members.get("mode").map(|mode| mode.decode::<Value>().unwrap_or_default());
    let mode = match mode.as_ref().map(|mode| mode.as_str()) {
        None | Some(Some("sync")) => Mode::Sync,
        Some(Some("async")) => Mode::Async,
        _ => {
            return Err(RestError::invalid(
                "mode",
                "it must be \"sync\" or \"async\"",
                mode.unwrap_or_default(),
            ));
        }
    };
    Ok(Asked { arguments, limit, priority, mode })
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

    fn order(body: &str) -> Result<Asked, RestError> {
        read(&Bytes::copy_from_slice(body.as_bytes()), LONGEST)
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
            (r#"{"mode":"later"}"#, "mode"),
            (r#"{"mode":1}"#, "mode"),
        ] {
            let error = order(body).err().unwrap_or_else(|| panic!("{body} was accepted"));
            assert_eq!(error.field().as_deref(), Some(field), "{body}");
        }
    }
}
