//! REST: tools without MCP, on the same port and through the same handler.
//!
//! A request becomes a `tools/list` or `tools/call` of the handler, with the caller that the guard
//! identified, so permissions, limits and audit are those of MCP. Every answer is JSON; a tool's
//! answer can also be an event stream.

mod answer;
mod docs;
mod execute;
mod executions;
mod listing;
mod openapi;
mod route;
mod stream;

use crate::{
    http::{AdmittedRequest, Body},
    options::QuotaOf,
};
use ::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use std::{sync::Arc, time::Duration};
use trunkline_http1::server::{HalfClose, Pending, RequestBody};
use trunkline_protocol::Caller;

pub(crate) use answer::RestError;
pub(crate) use docs::DocsFile;
pub use route::RESERVED_PATHS;
pub(crate) use route::RestRoute;
pub(crate) use stream::RestStream;

/// Version of this interface, in `X-MCP-Version` of every answer.
const VERSION: &str = "1.0";
const VERSION_HEADER: &str = "x-mcp-version";
const REQUEST_ID: &str = "x-request-id";
/// Longest `X-Request-ID` that is sent back.
const MAX_REQUEST_ID: usize = 128;

/// Limits of calls over REST.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestLimits {
    /// Executions of one server at once.
    pub running: usize,
    /// Executions that may wait for one of these places; more are refused.
    pub waiting: usize,
    /// Longest time of an execution, waiting included. `context.timeout` can only shorten it.
    pub timeout: Duration,
    /// Time for which a finished execution is kept.
    pub retention: Duration,
    /// Bytes that are kept for the executions of one caller: results, events, questions.
    pub kept_bytes: u64,
    /// Bytes that are kept for the executions of all callers. One caller keeps at most as many as
    /// are left.
    pub kept_bytes_total: u64,
}

impl Default for RestLimits {
    fn default() -> Self {
        Self {
            running: 10,
            waiting: 100,
            timeout: Duration::from_mins(5),
            retention: Duration::from_hours(1),
            kept_bytes: 64 << 20,
            kept_bytes_total: 256 << 20,
        }
    }
}

impl AdmittedRequest {
    pub(crate) fn rest(self, route: RestRoute, request: RestRequest) -> Pending<Body> {
        let marks = Marks::of(&self);
        if let Err(error) = check_version(&self.headers) {
            return Pending::ready(marks.on(error.respond()));
        }
        match (route, request.method) {
            (RestRoute::OpenApi, Method::GET | Method::HEAD) => Pending::running(
                async move {
                    let document = openapi::document(&self).await;
                    marks.on(document.unwrap_or_else(|error| error.respond()))
                },
                HalfClose::Cancels,
            ),
            (RestRoute::Tools, Method::GET | Method::HEAD) => Pending::running(
                async move { marks.on(listing::list(&self, request.query.as_deref()).await) },
                HalfClose::Cancels,
            ),
            (RestRoute::Tool(name), Method::GET | Method::HEAD) => Pending::running(
                async move { marks.on(listing::describe(&self, &name).await) },
                HalfClose::Cancels,
            ),
            (RestRoute::Execute(name), Method::POST) => execute::execute(self, name, request.body, marks),
            (
                route @ (RestRoute::Executions
                | RestRoute::Execution(_)
                | RestRoute::ExecutionEvents(_)
                | RestRoute::Answer(_)),
                method,
            ) => executions::serve(self, route, RestRequest { method, ..request }, marks),
            (route, _) => Pending::ready(marks.on(not_allowed(&route))),
        }
    }
}

/// The parts of a request that are not in its headers.
pub(crate) struct RestRequest {
    pub(crate) method: Method,
    pub(crate) query: Option<String>,
    pub(crate) body: RequestBody,
}

/// Headers that every answer gets.
#[derive(Clone)]
struct Marks {
    request_id: Option<HeaderValue>,
    quota: Option<(QuotaOf, Arc<Caller>)>,
}

impl Marks {
    fn of(request: &AdmittedRequest) -> Self {
        let given = request.headers.get(REQUEST_ID).filter(|id| id.len() <= MAX_REQUEST_ID);
        let quota = request.service.options.quota_of.clone();
        Self { request_id: given.cloned(), quota: quota.map(|of| (of, request.caller.clone())) }
    }

    fn on(&self, mut response: Response<Body>) -> Response<Body> {
        let headers = response.headers_mut();
        headers.insert(VERSION_HEADER, HeaderValue::from_static(VERSION));
        headers.insert(header::VARY, HeaderValue::from_static("authorization, accept"));
        if let Some(id) = &self.request_id {
            headers.insert(REQUEST_ID, id.clone());
        }
        if let Some(usage) = self.quota.as_ref().and_then(|(of, caller)| of(caller)) {
            // Rounded up, so that a client that waits that long has its whole quota again.
            let reset = u64::try_from(usage.reset.as_millis().div_ceil(1000)).unwrap_or(u64::MAX);
            headers.insert("ratelimit-limit", usage.limit.into());
            headers.insert("ratelimit-remaining", usage.remaining.into());
            headers.insert("ratelimit-reset", reset.into());
        }
        response
    }
}

/// Accepts our own version, and any revision of MCP: the answers are the same.
fn check_version(headers: &HeaderMap) -> Result<(), RestError> {
    let Some(given) = headers.get(VERSION_HEADER) else { return Ok(()) };
    let text = given.to_str().unwrap_or_default().trim();
    if matches!(text, "1" | VERSION) || text.parse::<trunkline_protocol::Revision>().is_ok() {
        return Ok(());
    }
    let reason = format!("this server has version {VERSION}; leave the header out, or send that");
    Err(RestError::invalid("X-MCP-Version", &reason, serde_json::json!(text)))
}

fn not_allowed(route: &RestRoute) -> Response<Body> {
    let methods = route.methods();
    let text = format!("this method is not allowed here; use {methods}");
    let mut response = RestError::new(StatusCode::METHOD_NOT_ALLOWED, "VALIDATION_ERROR", text).respond();
    if let Ok(methods) = HeaderValue::from_str(methods) {
        response.headers_mut().insert(header::ALLOW, methods);
    }
    response
}
