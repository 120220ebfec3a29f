//! `…/executions`: list, show, follow, cancel and answer.

use super::{
    Marks, RestRequest, RestRoute,
    answer::{Finished, RestError, counted},
    execute::not_begun,
    not_allowed,
    stream::{ExecutionStream, RestStream},
};
use crate::{
    execution::{
        Command, Executions, Follower, Viewer, Watch,
        record::{OpenQuestion, Owner, Record, State, now},
    },
    http::{AdmittedRequest, Body, EventSource, Events, empty, events, read_body},
    service::Service,
};
use ::http::{Method, Response, StatusCode};
use bytes::Bytes;
use futures_util::future::try_join_all;
use serde_json::{Map, Value, json};
use std::{
    borrow::Cow,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};
use trunkline_http1::server::{HalfClose, Pending};
use trunkline_protocol::{Object, Raw, time::iso_8601};
use trunkline_store::StoreError;

/// Longest `wait`, in seconds.
const MAX_WAIT: u64 = 60;
/// Executions in one answer.
const MAX_LIMIT: usize = 1000;
const USUAL_LIMIT: usize = 100;
/// Parts of a result that are shown while the tool runs; the event stream has all of them.
const MAX_PARTS: usize = 100;
/// Most executions of one list whose tasks are polled.
const MAX_LOOKS: usize = 64;
/// Timeout for an execution's record to show that it was cancelled, was answered or has ended.
const TAKES_EFFECT: Duration = Duration::from_secs(10);

/// Reads one execution for a caller that may see it.
#[derive(Clone)]
pub(super) struct Reader {
    service: Arc<Service>,
    record: Record,
}

pub(super) fn serve(
    request: AdmittedRequest,
    route: RestRoute,
    rest: RestRequest,
    marks: Marks,
) -> Pending<Body> {
    let RestRequest { method, query, body } = rest;
    match (route, method) {
        (RestRoute::Answer(id), Method::POST) => {
            let then = move |request: AdmittedRequest, bytes: &Bytes| {
                let bytes = bytes.clone();
                let answered = async move { marks.on(or_error(answer(&request, &id, &bytes).await)) };
                Pending::running(answered, HalfClose::Continues)
            };
            read_body(request, body, then, super::execute::refuse)
        }
        (RestRoute::Executions, Method::GET | Method::HEAD) => Pending::running(
            async move { marks.on(or_error(list(&request, query.as_deref()).await)) },
            HalfClose::Cancels,
        ),
        (RestRoute::Execution(id), Method::GET | Method::HEAD) => Pending::running(
            async move { marks.on(or_error(show(&request, &id, query.as_deref()).await)) },
            HalfClose::Cancels,
        ),
        (RestRoute::Execution(id), Method::DELETE) => Pending::running(
            async move { marks.on(or_error(cancel(&request, &id).await)) },
            HalfClose::Continues,
        ),
        (RestRoute::ExecutionEvents(id), Method::GET) => Pending::running(
            async move { marks.on(or_error(follow(&request, &id).await)) },
            HalfClose::Cancels,
        ),
        (route, _) => Pending::ready(marks.on(not_allowed(&route))),
    }
}

fn or_error(answer: Result<Response<Body>, RestError>) -> Response<Body> {
    answer.unwrap_or_else(|error| error.respond())
}

impl From<StoreError> for RestError {
    fn from(error: StoreError) -> Self {
        Self::of_store(&error)
    }
}

/// The caller of a request, as a viewer of executions.
fn viewer(request: &AdmittedRequest) -> Viewer {
    let may = request.service.options.sees_executions.as_ref();
    Viewer {
        owner: Owner::of(&request.caller),
        view: request.service.path.clone(),
        is_operator: may.is_some_and(|may| may(&request.caller)),
    }
}

async fn find(request: &AdmittedRequest, id: &str) -> Result<Reader, RestError> {
    let found = request.service.executions.find(id, &viewer(request)).await?;
    let record = found.ok_or_else(|| RestError::no_such_execution(id))?;
    let record = request.service.executions.looked_at(record).await?;
    Ok(Reader { service: request.service.clone(), record })
}

async fn list(request: &AdmittedRequest, query: Option<&str>) -> Result<Response<Body>, RestError> {
    let filter = Filter::read(query.unwrap_or_default())?;
    let mut viewer = viewer(request);
    if filter.all && !viewer.is_operator {
        let text = "executions of other callers need a role with `\"operate\": true`";
        return Err(RestError::new(StatusCode::FORBIDDEN, "PERMISSION_ERROR", text));
    }
    viewer.is_operator = filter.all;
    let fits = |record: &Record| filter.fits(record);
    let executions = &request.service.executions;
    let mut records = executions.list(&viewer, filter.after.as_deref(), filter.limit + 1, fits).await?;
    let more = records.len() > filter.limit;
    records.truncate(filter.limit);
    let mut body = Object::new();
    if more && let Some(last) = records.last() {
        body.set("nextCursor", Raw::string(&last.id));
    }
    let rest = records.split_off(records.len().min(MAX_LOOKS));
    let looked = try_join_all(records.into_iter().map(|record| executions.looked_at(record))).await?;
    let shown: Vec<Raw> =
        looked.iter().chain(&rest).map(|record| facts(&request.service, record).to_raw()).collect();
    body.set("executions", Raw::encode(&shown).unwrap_or_else(|_| json!([]).into()));
    Ok(counted(StatusCode::OK, &body.to_raw())?)
}

async fn show(request: &AdmittedRequest, id: &str, query: Option<&str>) -> Result<Response<Body>, RestError> {
    let wait = read_wait(query.unwrap_or_default())?;
    let mut reader = find(request, id).await?;
    if !wait.is_zero() {
        let _watch = watch(request)?;
        let enough = |record: &Record| record.state.is_final() || record.state == State::Waiting;
        reader.wait(wait, enough).await?;
    }
    reader.respond(StatusCode::OK).await
}

async fn cancel(request: &AdmittedRequest, id: &str) -> Result<Response<Body>, RestError> {
    let mut reader = find(request, id).await?;
    if !reader.record.state.is_final() {
        reader.command(&Command::Cancel).await?;
        reader.wait(TAKES_EFFECT, |record| record.state.is_final()).await?;
    }
    reader.respond(StatusCode::OK).await
}

async fn answer(request: &AdmittedRequest, id: &str, body: &Bytes) -> Result<Response<Body>, RestError> {
    let mut reader = find(request, id).await?;
    let Answer { question, answer } = Answer::read(body)?;
    let open: Vec<&str> = reader.record.questions.iter().map(|open| open.id.as_str()).collect();
    let question = match (question, open.as_slice()) {
        (_, []) => {
            let text = format!("the execution asks nothing now; it is {}", reader.record.state.name());
            return Err(RestError::new(StatusCode::CONFLICT, "VALIDATION_ERROR", text));
        }
        (Some(named), open) if open.contains(&named.as_str()) => named,
        (Some(named), open) => {
            let reason = format!("the open questions are {}", open.join(", "));
            return Err(RestError::invalid("question", &reason, json!(named)));
        }
        (None, [only]) => (*only).to_owned(),
        (None, open) => {
            let reason = format!("it must name one of the open questions {}", open.join(", "));
            return Err(RestError::invalid("question", &reason, Value::Null));
        }
    };
    let by = request.caller.id.clone();
    reader.command(&Command::Answer { question: question.clone(), answer, by }).await?;
    let taken = |record: &Record| record.questions.iter().all(|open| open.id != question);
    reader.wait(TAKES_EFFECT, taken).await?;
    reader.respond(StatusCode::OK).await
}

async fn follow(request: &AdmittedRequest, id: &str) -> Result<Response<Body>, RestError> {
    let (reader, watch) = (find(request, id).await?, watch(request)?);
    let after = match request.headers.get("last-event-id") {
        None => 0,
        Some(given) => given.to_str().ok().and_then(|text| text.trim().parse().ok()).ok_or_else(|| {
            let provided = String::from_utf8_lossy(given.as_bytes()).into_owned();
            RestError::invalid(
                "Last-Event-ID",
                "it must be the id of an event of this stream",
                json!(provided),
            )
        })?,
    };
    reader.stream(after, watch).await
}

/// The right to wait for an execution.
pub(super) fn watch(request: &AdmittedRequest) -> Result<Watch, RestError> {
    request.service.executions.watch(&request.caller).map_err(|full| RestError::of_fault(&full))
}

impl Reader {
    pub(super) fn new(service: &Arc<Service>, record: Record) -> Self {
        Self { service: service.clone(), record }
    }

    fn executions(&self) -> &Arc<Executions> {
        &self.service.executions
    }

    async fn command(&self, command: &Command) -> Result<(), RestError> {
        self.executions().command(&self.record, command).await.map_err(not_begun)
    }

    /// Waits until `enough` is true or the limit has passed, and reads the record again. If it is
    /// no longer kept, the last one that was read stays.
    pub(super) async fn wait(
        &mut self,
        limit: Duration,
        enough: impl Fn(&Record) -> bool,
    ) -> Result<(), RestError> {
        if let Some(record) = self.executions().wait(&self.record.id, limit, enough).await? {
            self.record = record;
        }
        Ok(())
    }

    /// The answer that a synchronous call would have had; `None` if it has not ended.
    pub(super) async fn finished(&self) -> Result<Option<Finished>, RestError> {
        if !self.record.state.is_final() {
            return Ok(None);
        }
        let end = self.executions().end(&self.record).await?;
        let at = UNIX_EPOCH + Duration::from_millis(end.finished);
        let took = Duration::from_millis(end.millis);
        Ok(Some(Finished::of(&self.record.id, &end.outcome(), took, at)))
    }

    /// The body of the last event; `None` if it cannot be read now.
    pub(super) async fn result(&mut self) -> Option<Raw> {
        self.wait(TAKES_EFFECT, |record| record.state.is_final()).await.ok()?;
        Some(self.finished().await.ok()??.body())
    }

    /// The events after this one, as a stream.
    pub(super) async fn stream(self, after: u64, watch: Watch) -> Result<Response<Body>, RestError> {
        let service = self.service.clone();
        let Some(follower) = Follower::new(&service.executions, &self.record.id, after).await? else {
            // Tells a browser not to connect again.
            return Ok(empty(StatusCode::NO_CONTENT));
        };
        let stream = RestStream::Execution(ExecutionStream { follower, reader: self, _watch: watch });
        let source = EventSource { events: Events::Rest(Box::new(stream)), phase: service.phase() };
        Ok(events(Body::events(None, source, service.options.limits.keep_alive)))
    }

    pub(super) async fn respond(&self, status: StatusCode) -> Result<Response<Body>, RestError> {
        let mut body = facts(&self.service, &self.record);
        if let Some(finished) = self.finished().await? {
            for (name, value) in finished.members().iter() {
                body.set(name.to_owned(), value.clone());
            }
        } else if self.record.state != State::Queued {
            let (progress, partial) = self.executions().so_far(&self.record.id, MAX_PARTS).await?;
            if let Some(progress) = progress {
                body.set("progress", progress);
            }
            body.set("partial", Raw::encode(&partial).unwrap_or_else(|_| json!([]).into()));
        }
        Ok(counted(status, &body.to_raw())?)
    }
}

/// The members that lists have, too.
fn facts(service: &Service, record: &Record) -> Object {
    let time = |millis: u64| json!(iso_8601(UNIX_EPOCH + Duration::from_millis(millis)));
    let facts = json!({
        "executionId": record.id,
        "tool": record.tool,
        "state": record.state.name(),
        "priority": record.priority,
        "createdAt": time(record.created),
        "updatedAt": time(record.updated),
        "deadline": time(record.deadline),
        "audit": record.audit,
    });
    let mut facts = Raw::from(facts).object().unwrap_or_default();
    if let Some(task) = &record.task {
        facts.set("taskId", Raw::string(task));
    }
    if record.state == State::Queued
        && let Some(position) = service.queues.position(&record.id)
    {
        facts.set("queuePosition", json!(position).into());
    }
    if let Some(question) = record.questions.first() {
        facts.set("question", question.shown());
        let all: Vec<Raw> = record.questions.iter().map(OpenQuestion::shown).collect();
        facts.set("questions", Raw::encode(&all).unwrap_or_else(|_| json!([]).into()));
    }
    facts
}

struct Filter {
    states: Vec<State>,
    tool: Option<String>,
    limit: usize,
    after: Option<String>,
    /// True for the executions of all callers.
    all: bool,
}

impl Filter {
    fn read(query: &str) -> Result<Self, RestError> {
        let mut filter = Self { states: Vec::new(), tool: None, limit: USUAL_LIMIT, after: None, all: false };
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let value: Cow<'_, str> = value;
            let wrong = |reason: &str| RestError::invalid(&name, reason, json!(value));
            match name.as_ref() {
                "state" => {
                    let state = State::ALL.iter().find(|(name, _)| *name == value).map(|(_, state)| *state);
                    let names = State::ALL.map(|(name, _)| name).join(", ");
                    filter.states.push(state.ok_or_else(|| wrong(&format!("the states are {names}")))?);
                }
                "tool" => filter.tool = Some(value.into_owned()),
                "cursor" => filter.after = Some(value.into_owned()),
                "limit" => {
                    let limit = value.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
                    let reason = format!("it must be a number from 1 to {MAX_LIMIT}");
                    filter.limit = limit.ok_or_else(|| wrong(&reason))?;
                }
                "all" => {
                    filter.all = match value.as_ref() {
                        "true" => true,
                        "false" => false,
                        _ => return Err(wrong("it must be true or false")),
                    };
                }
                _ => return Err(wrong("the parameters are state, tool, limit, cursor and all")),
            }
        }
        Ok(filter)
    }

    fn fits(&self, record: &Record) -> bool {
        (self.states.is_empty() || self.states.contains(&record.state))
            && self.tool.as_ref().is_none_or(|tool| *tool == record.tool)
    }
}

fn read_wait(query: &str) -> Result<Duration, RestError> {
    let mut wait = Duration::ZERO;
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let wrong = |reason: &str| RestError::invalid(&name, reason, json!(value));
        if name != "wait" {
            return Err(wrong("the only parameter is wait"));
        }
        let seconds: u64 = value.parse().map_err(|_| wrong("it must be a whole number of seconds"))?;
        wait = Duration::from_secs(seconds.min(MAX_WAIT));
    }
    Ok(wait)
}

/// The answer to a question, as the tool gets it.
struct Answer {
    question: Option<String>,
    answer: Raw,
}

impl Answer {
    fn read(body: &Bytes) -> Result<Self, RestError> {
        let not_object = || RestError::invalid("body", "it must be an object", Value::Null);
        let members: Map<String, Value> = serde_json::from_slice(body).map_err(|_| not_object())?;
        let (mut question, mut action, mut content) = (None, "accept".to_owned(), None);
        for (name, value) in members {
            let wrong = |reason| RestError::invalid(&name, reason, value.clone());
            match (name.as_str(), &value) {
                ("question", Value::String(id)) => question = Some(id.clone()),
                ("question", _) => return Err(wrong("it must be the id of a question")),
                ("action", Value::String(word))
                    if ["accept", "decline", "cancel"].contains(&word.as_str()) =>
                {
                    action.clone_from(word);
                }
                ("action", _) => return Err(wrong("it must be \"accept\", \"decline\" or \"cancel\"")),
                ("content", Value::Object(_)) => content = Some(value.clone()),
                ("content", _) => return Err(wrong("it must be an object")),
                _ => return Err(wrong("the members are question, action and content")),
            }
        }
        let mut answer = Object::new();
        answer.set("action", Raw::string(&action));
        if let Some(content) = content.filter(|_| action == "accept") {
            answer.set("content", content.into());
        }
        Ok(Self { question, answer: answer.to_raw() })
    }
}

/// The time left until a record's deadline.
pub(super) fn time_left(record: &Record) -> Duration {
    Duration::from_millis(record.deadline.saturating_sub(now()))
}
