//! Settings of the front end: limits for clients, audit trail, access log, views and roles.

use super::options::Rate;
use crate::keys::kind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, time::Duration};

/// Limits for clients: sizes, timeouts and numbers of connections, sessions and calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Maximum size of a request body, or of a line on standard input, in bytes.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub body_bytes: u64,
    /// Memory for all messages above 64 KiB in flight, in bytes: request bodies, results of
    /// servers, responses that clients have not read, and events kept for replay (at most half of
    /// it). Beyond it, requests are refused with 503, and results are replaced by error E224.
    /// `null`: a quarter of the memory of the machine or its cgroup, at most 2 GiB.
    #[schemars(range(min = 16_777_216, max = 1_099_511_627_776_u64))]
    pub memory_bytes: Option<u64>,
    /// Timeout for receiving the head of a request, which also applies to new connections without
    /// data.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 100, "maximum" = 600_000))]
    pub header_timeout: Duration,
    /// Idle timeout of a keep-alive connection between requests.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 100, "maximum" = 3_600_000))]
    pub idle_timeout: Duration,
    /// Timeout for receiving the body of a request.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 100, "maximum" = 3_600_000))]
    pub body_timeout: Duration,
    /// A connection is closed if the client reads nothing for this long while data is pending.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 100, "maximum" = 3_600_000))]
    pub write_timeout: Duration,
    /// Maximum number of connections. A further one replaces the connection that has been idle
    /// longest; if none is idle, it waits. One caller with a key or token has at most a quarter of
    /// them for requests that wait for executions.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub connections: u32,
    /// Maximum number of sessions with clients of older revisions; further ones are refused.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub sessions: u32,
    /// Maximum number of these sessions of one caller with a key or token, at one endpoint. A
    /// further one replaces the caller's own session that has been idle longest, if that is at
    /// least a minute; otherwise it is refused.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub sessions_per_caller: u32,
    /// Idle time after which a session is removed.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1000, "maximum" = 604_800_000))]
    pub session_idle: Duration,
    /// Maximum number of concurrent requests per session. A request in flight takes a few KiB;
    /// large ones share `memoryBytes`.
    #[schemars(range(min = 1, max = 10_000))]
    pub calls: u32,
    /// Maximum number of calls that wait for input from their client.
    #[schemars(range(min = 1, max = 100_000))]
    pub parked: u32,
    /// Time that a call waits for input from its client.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1000, "maximum" = 86_400_000))]
    pub parked_for: Duration,
    /// Maximum number of calls that wait for the decision of an operator. One caller with a key or
    /// token holds at most a quarter of them.
    #[schemars(range(min = 1, max = 100_000))]
    pub approvals: u32,
    /// Time that a call waits for the decision of an operator. The time limits of the server and of
    /// REST executions begin after it.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1000, "maximum" = 86_400_000))]
    pub approval_timeout: Duration,
    /// Time for which a `requestState` that a server handed out is accepted back.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1000, "maximum" = 604_800_000))]
    pub state_for: Duration,
    /// Maximum number of catalogs for single callers, if a server shows each caller something
    /// else. A further one replaces the catalog that was unused longest.
    #[schemars(range(min = 1, max = 100_000))]
    pub personal_catalogs: u32,
    /// Time after which an unused catalog of a single caller, and its sessions, are closed.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1000, "maximum" = 86_400_000))]
    pub personal_idle: Duration,
    /// Time in which a caller can follow a login link and finish the login.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1000, "maximum" = 3_600_000))]
    pub login_for: Duration,
    /// Maximum number of tools of one server that run at once for REST.
    #[schemars(range(min = 1, max = 100_000))]
    pub executions: u32,
    /// Maximum number of executions that wait for one of these places; more are refused, or
    /// displace the newest one of the caller with most.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub execution_queue: u32,
    /// Longest time of an execution, including the wait. `context.timeout` can shorten it.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1000, "maximum" = 86_400_000))]
    pub execution_timeout: Duration,
    /// Time for which a finished execution and its result are kept.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1000, "maximum" = 604_800_000))]
    pub execution_retention: Duration,
    /// Bytes that are kept for the executions of one caller: results, events, questions and
    /// answers; each execution counts 4 KiB at least. Beyond it, new executions are refused with
    /// 429, and results that do not fit are not kept.
    #[schemars(range(min = 1_048_576, max = 1_099_511_627_776_u64))]
    pub execution_bytes: u64,
    /// Bytes that are kept for the executions of all callers together. One caller keeps at most as
    /// many as are left of them, so that there is always room for others.
    #[schemars(range(min = 1_048_576, max = 1_099_511_627_776_u64))]
    pub execution_bytes_total: u64,
    /// Number of events kept per stream for clients that reconnect.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub replay_events: u32,
    /// Number of bytes kept per stream for clients that reconnect.
    #[schemars(range(min = 0, max = 1_073_741_824))]
    pub replay_bytes: u64,
    /// Interval of keep-alive comments on idle streams.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1000, "maximum" = 600_000))]
    pub keep_alive: Duration,
    /// Time that a list request waits for servers that are still starting once others have
    /// answered.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 0, "maximum" = 60_000))]
    pub list_grace: Duration,
    /// Time that calls in flight have to finish when the gateway shuts down, or when a server is
    /// stopped by command.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 0, "maximum" = 3_600_000))]
    pub drain: Duration,
    /// Rate limit for all requests of one caller, including lists. `null`: no limit.
    #[schemars(schema_with = "super::options::rate")]
    pub per_caller: Option<Rate>,
    /// Rate limit for calls of one tool. `null`: no limit.
    #[schemars(schema_with = "super::options::rate")]
    pub per_tool: Option<Rate>,
}

/// The handshake of clients of older revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Handshake {
    /// Requests before `initialize` are refused.
    Required,
    /// They are answered, for clients that send no `initialize`.
    Optional,
}

/// Certificates of clients (mTLS).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClientCertificates {
    /// A client without a certificate needs a key or token.
    Optional,
    /// A client without a certificate cannot connect.
    #[default]
    Required,
}

/// The audit trail: a record of every call and its caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Audit {
    /// True if an audit trail is written.
    pub enabled: bool,
    /// Directory of the audit trail. `null`: below `$XDG_STATE_HOME/trunkline/audit`, a new
    /// directory for each run.
    #[schemars(schema_with = "kind::path")]
    pub directory: Option<PathBuf>,
    /// When records are flushed to disk. In both modes they are passed to the operating system
    /// before a call runs and before it is answered, so killing the gateway loses none. `batch`:
    /// flushed within a second, so a power failure may lose the last second; `sync`: flushed
    /// before a call that may change something runs, which makes the call wait for the disk.
    pub durability: Durability,
    /// Size in bytes at which a new file of the trail is started.
    #[schemars(range(min = 65_536, max = 1_099_511_627_776_u64))]
    pub segment_bytes: u64,
    /// Timeout for flushing to disk.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 100, "maximum" = 600_000))]
    pub patience: Duration,
    /// Handling of calls that cannot be recorded.
    pub when_it_fails: WhenItFails,
    /// Signatures, which reveal that the whole trail was rewritten.
    pub signing: AuditSigning,
}

/// Signatures of the number and hash of the trail's last record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditSigning {
    /// File with the private key, made by `trunkline audit keygen`. `null`: nothing is signed.
    #[schemars(schema_with = "kind::path")]
    pub key: Option<PathBuf>,
    /// Longest time between two signatures while records are written. The trail is also signed
    /// when it begins, when it ends and when a new file of it is started.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 100, "maximum" = 86_400_000))]
    pub interval: Duration,
    /// Number of records after which the trail is signed before the interval is over.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub records: u64,
    /// Syslog server that gets each signature: a local socket such as `/dev/log`, or `host:port`
    /// for UDP. `null`: none.
    pub syslog: Option<String>,
    /// True if the collector at `telemetry.endpoint` gets each signature, as a log record.
    pub otlp: bool,
}

/// When records are flushed to disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    Sync,
    Batch,
}

/// Handling of calls that cannot be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenItFails {
    /// All calls are refused.
    RefuseAll,
    /// Calls that may change something are refused.
    RefuseChanges,
    /// Calls are made without a record.
    Allow,
}

/// The access log: one line for each request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessLog {
    /// True if an access log is written.
    pub enabled: bool,
    /// File of the access log. `null`: standard error.
    #[schemars(schema_with = "kind::path")]
    pub file: Option<PathBuf>,
}

/// A subset of the tools, prompts and resources, served at `/mcp/<view>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct View {
    /// Servers in the view, by name or pattern. Default: all.
    #[serde(default = "everything")]
    #[schemars(schema_with = "kind::globs")]
    pub servers: Vec<String>,
    /// Tools in the view, by public name (`<server>_<tool>`) or pattern. Default: all.
    #[serde(default = "everything")]
    #[schemars(schema_with = "kind::globs")]
    pub tools: Vec<String>,
    /// Tools excluded from the view even if `tools` matches.
    #[serde(default)]
    #[schemars(schema_with = "kind::globs")]
    pub hide: Vec<String>,
    /// Tool names in the view: `prefixed` with the server's name, or `bare` as the server names
    /// them. Bare names that would collide keep their prefix.
    #[serde(default)]
    pub naming: Naming,
    /// The form in which the view lists tools: `all`, `names`, `search` or `auto`, as the setting
    /// `disclosure`.
    /// Default: `all`.
    #[serde(default)]
    pub disclosure: ToolDisclosure,
    /// Tokens that the listed tools may cost a model, estimated as bytes / 4.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub tool_budget: Option<u64>,
    /// Maximum number of bytes of text in a tool result, as the setting `defaults.resultBytes`; the
    /// lower one of view and server counts.
    #[serde(default)]
    #[schemars(range(min = 256, max = 1_073_741_824))]
    pub result_bytes: Option<u64>,
    /// Purpose of the view; sent to clients as instructions.
    #[serde(default)]
    pub description: Option<String>,
}

/// The form in which failed tool calls are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Errors {
    #[default]
    Standard,
    Classic,
}

/// The listed part of a view's tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolDisclosure {
    #[default]
    All,
    Names,
    Search,
    Auto,
}

/// Use of the lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LockSetting {
    Off,
    #[default]
    Report,
    Enforce,
}

/// Naming of tools in a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Naming {
    #[default]
    Prefixed,
    Bare,
}

/// Tools that callers of one role may use, and the callers who have the role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Role {
    /// Allowed tools, by public name (`<server>_<tool>`) or pattern. Default: all.
    #[serde(default = "everything")]
    #[schemars(schema_with = "kind::globs")]
    pub allow: Vec<String>,
    /// Denied tools, even if `allow` matches.
    #[serde(default)]
    #[schemars(schema_with = "kind::globs")]
    pub deny: Vec<String>,
    /// Callers who have the role: `local` for the client on standard input and for programs of
    /// this machine where no keys or tokens are required, `key:<id>` or plainly the id of an API
    /// key, `jwt:<issuer>#<subject>` for a token, `cert:<subject>` for a client certificate (such
    /// as `cert:CN=ada`). Keys and tokens can also name roles themselves.
    #[serde(default)]
    #[schemars(schema_with = "kind::names")]
    pub callers: Vec<String>,
    /// Token scopes that grant the role; one of them is enough.
    #[serde(default)]
    #[schemars(schema_with = "kind::names")]
    pub scopes: Vec<String>,
    /// True if `/status` shows errors, paths, sessions and all servers to these callers,
    /// `/metrics` is open to them, and they may stop and start servers. Otherwise `/status` shows
    /// them the state of the servers that they may use. Default: `false`. Without roles, or without
    /// keys and tokens, every caller may do all of this.
    #[serde(default)]
    pub operate: bool,
}

fn everything() -> Vec<String> {
    vec!["*".to_owned()]
}
