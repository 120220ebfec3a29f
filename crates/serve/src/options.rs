//! Options of a server: access, pages, revisions and limits.

use crate::{access::AccessHook, guard::Guard, rest::RestLimits, workers::Workers};
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method, Response, StatusCode, Uri};
use std::{fmt, sync::Arc, time::Duration};
use trunkline_protocol::{Caller, Era};
use trunkline_resilience::Usage;
use trunkline_store::Store;

/// Options of a server. By default only programs on this machine have access.
#[derive(Clone, Default)]
pub struct ServeOptions {
    pub eras: Eras,
    pub handshake: Handshake,
    pub guard: Guard,
    pub limits: Limits,
    pub rest: RestLimits,
    /// Pages about this server, for authenticated callers.
    pub pages: Vec<Page>,
    /// True for callers that may read the metrics; without it, all callers may.
    pub may_operate: Option<CallerTest>,
    /// Adds to a caller the parts of its request that servers behind us need.
    pub carry: Option<Carry>,
    /// Answers browsers at `/login` and below it. They have no credentials for us.
    pub browser: Option<BrowserPages>,
    /// Answers POST requests below `/control/`, for authenticated callers.
    pub control: Option<Control>,
    /// Added to `/readyz?verbose`, for authenticated callers.
    pub ready_details: Option<Render>,
    /// Further metrics, in the text format of Prometheus.
    pub more_metrics: Option<Render>,
    /// Gets a record of each HTTP request. It includes the call if the handler is
    /// [`Logged`](crate::Logged) with the same hook.
    pub access: Option<AccessHook>,
    /// The server that a tool belongs to; each has its own queue.
    pub server_of: Option<ServerOf>,
    /// The rest of a caller's quota, for the headers `RateLimit-*` of REST.
    pub quota_of: Option<QuotaOf>,
    /// The threads that serve connections.
    pub workers: Workers,
    /// True for callers that may see and cancel the executions of others; without it, none may.
    pub sees_executions: Option<CallerTest>,
    /// Keeps executions; without it, they are kept in memory.
    pub store: Option<Arc<dyn Store>>,
}

/// Answers a request of a browser.
pub type BrowserPages = Arc<dyn Fn(BrowserRequest) -> BoxFuture<'static, Response<String>> + Send + Sync>;

/// A request of a browser, whose `Host` and `Origin` were checked. Its body is not read.
#[derive(Debug, Clone)]
pub struct BrowserRequest {
    pub method: Method,
    pub uri: Uri,
    pub headers: HeaderMap,
}

/// Adds parts of a request to its caller.
pub type Carry = Arc<dyn Fn(Arc<Caller>, &HeaderMap) -> Arc<Caller> + Send + Sync>;

/// Decides about a caller.
pub type CallerTest = Arc<dyn Fn(&Caller) -> bool + Send + Sync>;

/// Finds the server of a tool that the caller may use: the view, if there is one, and the public
/// name.
pub type ServerOf = Arc<dyn Fn(&Caller, Option<&str>, &str) -> Option<String> + Send + Sync>;

/// Finds the rest of a caller's quota; `None` if it has none.
pub type QuotaOf = Arc<dyn Fn(&Caller) -> Option<Usage> + Send + Sync>;

/// Carries out a command.
pub type Control = Arc<dyn Fn(Command<'_>) -> BoxFuture<'static, Controlled> + Send + Sync>;

/// A command to the server: a POST request without a body.
#[derive(Debug, Clone)]
pub struct Command<'a> {
    pub caller: Arc<Caller>,
    /// The path below `/control/`.
    pub path: &'a str,
    pub query: Option<&'a str>,
    pub headers: &'a HeaderMap,
}

/// The answer to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Controlled {
    pub status: StatusCode,
    /// JSON.
    pub body: String,
}

/// Renders a page for a caller.
pub type Render = Arc<dyn Fn(&Caller) -> String + Send + Sync>;

/// A page served for GET.
#[derive(Clone)]
pub struct Page {
    pub path: &'static str,
    pub content_type: &'static str,
    pub render: Render,
}

/// The eras of the protocol that are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Eras {
    #[default]
    Both,
    Only(Era),
}

/// The handshake of legacy clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Handshake {
    /// Requests before `initialize` are refused.
    #[default]
    Required,
    /// They are answered, for clients that send none.
    Optional,
}

/// Limits on memory and time that clients can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of a request body, or of a line on stdio.
    pub body: usize,
    /// Limit on receiving a request head, and on a new connection that sends nothing.
    pub header_timeout: Duration,
    /// Limit on an idle connection between requests.
    pub idle_timeout: Duration,
    /// Limit on receiving a request body.
    pub body_timeout: Duration,
    /// Limit on a write of which the client reads nothing.
    pub write_timeout: Duration,
    /// Connections at once. A further one evicts the connection that has been idle longest, or
    /// waits.
    pub connections: usize,
    /// Legacy sessions at once; further ones are refused with 503.
    pub sessions: usize,
    /// Of these, sessions of one caller; the local caller is the only one, so it may have all.
    pub sessions_per_caller: usize,
    /// Limit on a session without requests.
    pub session_idle: Duration,
    /// Requests in flight of one session or one stdio client.
    pub calls: usize,
    /// Most modern calls that wait for an answer from their client.
    pub parked: usize,
    /// Limit on that wait.
    pub parked_for: Duration,
    /// Events kept per stream for a client that resumes it.
    pub replay_events: usize,
    /// Bytes kept per stream for a client that resumes it.
    pub replay_bytes: usize,
    /// Interval of comments on a stream without events, so that no proxy closes it.
    pub keep_alive: Duration,
    /// Limit on finishing calls in flight after a shutdown was requested.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 10 * 1024 * 1024,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            connections: 1024,
            sessions: 1024,
            sessions_per_caller: 256,
            session_idle: Duration::from_mins(30),
            calls: 512,
            parked: 256,
            parked_for: Duration::from_mins(5),
            replay_events: 1024,
            replay_bytes: 4 * 1024 * 1024,
            keep_alive: Duration::from_secs(15),
            drain: Duration::from_secs(30),
        }
    }
}

impl Eras {
    pub(crate) fn allows(self, era: Era) -> bool {
        match self {
            Self::Both => true,
            Self::Only(only) => only == era,
        }
    }
}

impl fmt::Debug for ServeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServeOptions")
            .field("eras", &self.eras)
            .field("handshake", &self.handshake)
            .field("guard", &self.guard)
            .field("limits", &self.limits)
            .field("rest", &self.rest)
            .field("pages", &self.pages)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("path", &self.path).finish_non_exhaustive()
    }
}
