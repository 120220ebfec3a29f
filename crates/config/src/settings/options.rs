//! Options of a server, set in `defaults` for all servers or for each one.

use crate::keys::kind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Options of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerOptions {
    /// When the server is started: `eager` together with the gateway, `lazy` on first use; until
    /// then, a list known from before is shown.
    pub start: Start,
    /// Idle time after which a local server is stopped; the next call starts it again. `null` or
    /// 0: never.
    #[serde(with = "kind::optional")]
    #[schemars(schema_with = "kind::optional_time", extend("minimum" = 0, "maximum" = 604_800_000))]
    pub idle_stop: Option<Duration>,
    /// Backoff before a server that exited or cannot be reached is tried again.
    pub restart: Restart,
    /// Circuit breaker: refuses calls immediately while the server keeps failing.
    pub breaker: Breaker,
    /// Retries of requests that are safe to repeat: lists, reads, and tools marked as idempotent.
    pub retry: Retry,
    /// Timeouts of the server. A single number (milliseconds) or text such as `"30s"` is the
    /// timeout of one request. Time in which this process was suspended does not count.
    #[schemars(schema_with = "timeouts")]
    pub timeout: Timeouts,
    /// Maximum number of concurrent calls. A waiting call takes a few KiB, so the default is more
    /// than most servers work on at once; lower it for a server that suffers from many calls.
    #[schemars(range(min = 1, max = 10_000))]
    pub concurrency: u32,
    /// Maximum number of calls queued beyond `concurrency`; further ones are refused.
    #[schemars(range(min = 0, max = 100_000))]
    pub queue: u32,
    /// Rate limit for the calls of all callers together. `null`: no limit.
    #[schemars(schema_with = "rate")]
    pub rate: Option<Rate>,
    /// Sessions with servers of older revisions: `caller` opens one per caller, so that callers
    /// are isolated from each other; `shared` uses one for all, for servers without state.
    pub sessions: Sessions,
    /// Maximum number of sessions with the server; the one idle longest is evicted.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_sessions: u32,
    /// Validation of arguments: `passed` leaves it to the server; `checked` refuses arguments that
    /// do not match the tool's schema, with the reason, and hides tools whose schema is unusable.
    pub arguments: Arguments,
    /// Maximum number of bytes of text in a tool result. A longer one is cut, and the rest is read
    /// as a resource for 15 minutes. `null`: no limit.
    #[schemars(range(min = 256, max = 1_073_741_824))]
    pub result_bytes: Option<u64>,
    /// Caching and limits of the lists of tools, prompts and resources.
    pub lists: Lists,
}

/// When a server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    Lazy,
    Eager,
}

/// Sharing of sessions between callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sessions {
    Caller,
    Shared,
}

/// Validation of the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Arguments {
    Passed,
    Checked,
}

/// Exponential backoff between attempts to restart or reconnect a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Restart {
    /// Delay before the first retry.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 60_000))]
    pub first: Duration,
    /// Maximum delay.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 600_000))]
    pub most: Duration,
    /// Factor by which the delay grows with each attempt.
    #[schemars(range(min = 1, max = 10))]
    pub factor: u32,
    /// Uptime after which the delay is reset to the first one.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 86_400_000))]
    pub healthy_after: Duration,
}

/// The circuit breaker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Breaker {
    /// Number of consecutive failures after which calls are refused.
    #[schemars(range(min = 1, max = 1000))]
    pub failures: u32,
    /// Time that calls are refused before trial calls are let through.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 3_600_000))]
    pub open_for: Duration,
    /// Maximum number of concurrent trial calls.
    #[schemars(range(min = 1, max = 100))]
    pub trials: u32,
}

/// Retries of requests that are safe to repeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// Total number of attempts; 1 means no retry.
    #[schemars(range(min = 1, max = 20))]
    pub attempts: u32,
    /// Delay before the first retry.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 60_000))]
    pub first: Duration,
    /// Maximum delay.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 600_000))]
    pub most: Duration,
    /// Maximum sum of all delays.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 0, "maximum" = 3_600_000))]
    pub budget: Duration,
}

/// Timeouts of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Timeouts {
    /// Timeout until the server is ready for calls.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 3_600_000))]
    pub startup: Duration,
    /// Timeout for a response or progress. If it is longer than the built-in `ceiling`, it also
    /// replaces the ceiling.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 86_400_000))]
    pub request: Duration,
    /// Timeout for the response, regardless of progress.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 86_400_000))]
    pub ceiling: Duration,
}

/// A rate limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rate {
    /// Maximum number of calls per period; all of them may come at once.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub calls: u32,
    /// The period. Default: one minute.
    #[serde(with = "kind", default = "minute")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 86_400_000))]
    pub per: Duration,
}

/// Caching and limits of lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lists {
    /// Time to live of a cached list if the server gives none. A gateway reads a list at most once
    /// a second.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 0, "maximum" = 86_400_000))]
    pub ttl: Duration,
    /// Maximum number of items per list; the rest is dropped with a warning.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub items: u32,
    /// Maximum number of pages fetched per list.
    #[schemars(range(min = 1, max = 100_000))]
    pub pages: u32,
}

fn minute() -> Duration {
    Duration::from_mins(1)
}

fn timeouts(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let mut schema = Timeouts::json_schema(generator);
    let shorthand = kind::time(generator);
    schema.insert("type".to_owned(), serde_json::json!(["integer", "string", "object"]));
    for key in ["pattern", "x-kind"] {
        schema.insert(key.to_owned(), shorthand.get(key).cloned().unwrap_or_default());
    }
    schema.insert("minimum".to_owned(), 1.into());
    schema.insert("maximum".to_owned(), 86_400_000.into());
    schema
}

pub(super) fn rate(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let mut schema = Rate::json_schema(generator);
    schema.insert("type".to_owned(), serde_json::json!(["object", "null"]));
    schema
}
