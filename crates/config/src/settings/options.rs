//! How one server is run and used: what `defaults` says for all, and each server for itself.

use crate::keys::kind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How a server is run and used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerOptions {
    /// When the server is started: `lazy` with its first use (a list that is known from before is shown until then), `eager` with the gateway.
    pub start: Start,
    /// A local server that nobody used for so long is stopped; it starts again with the next call. `null` or 0: never.
    #[serde(with = "kind::optional")]
    #[schemars(schema_with = "kind::optional_time", extend("minimum" = 0, "maximum" = 604_800_000))]
    pub idle_stop: Option<Duration>,
    /// Pauses before a server that ended or cannot be reached is tried again.
    pub restart: Restart,
    /// When calls are refused at once because the server keeps failing.
    pub breaker: Breaker,
    /// How requests are repeated that may be: lists, reads, and tools marked as idempotent.
    pub retry: Retry,
    /// How long the server may take. A number (milliseconds) or a text such as `"30s"` alone is the time for one request. Time in which this process itself was stopped does not count.
    #[schemars(schema_with = "timeouts")]
    pub timeout: Timeouts,
    /// Calls under way at once.
    #[schemars(range(min = 1, max = 10_000))]
    pub concurrency: u32,
    /// Calls that wait for a place among those; further ones are refused.
    #[schemars(range(min = 0, max = 100_000))]
    pub queue: u32,
    /// The most calls in a period, by all callers together. `null`: any number.
    #[schemars(schema_with = "rate")]
    pub rate: Option<Rate>,
    /// Whether callers share a session with a server of an older revision: `caller` keeps what one caller did from all others, `shared` is for
    /// servers that keep no state.
    pub sessions: Sessions,
    /// Sessions with the server at once; the one unused for longest makes room.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_sessions: u32,
    /// What is done with the arguments of a call: `passed` leaves it to the server to check them, `checked` refuses here what does not fit the
    /// tool's schema and says why, and leaves out tools whose schema cannot be used.
    pub arguments: Arguments,
    /// How lists of tools, prompts and resources are kept.
    pub lists: Lists,
}

/// When a server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    Lazy,
    Eager,
}

/// Who shares a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sessions {
    Caller,
    Shared,
}

/// What is done with the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Arguments {
    Passed,
    Checked,
}

/// Pauses between attempts to bring a server back; each is longer than the one before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Restart {
    /// The first pause.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 60_000))]
    pub first: Duration,
    /// The longest pause.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 600_000))]
    pub most: Duration,
    /// How much longer each pause is than the one before.
    #[schemars(range(min = 1, max = 10))]
    pub factor: u32,
    /// A server that was up for so long begins with the first pause again.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 86_400_000))]
    pub healthy_after: Duration,
}

/// The circuit breaker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Breaker {
    /// Failures in a row after which calls are refused.
    #[schemars(range(min = 1, max = 1000))]
    pub failures: u32,
    /// How long they are refused before a trial.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 3_600_000))]
    pub open_for: Duration,
    /// Trials at once.
    #[schemars(range(min = 1, max = 100))]
    pub trials: u32,
}

/// Repeats of what may be repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// Attempts in all; 1 means no repeat.
    #[schemars(range(min = 1, max = 20))]
    pub attempts: u32,
    /// The first pause.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 60_000))]
    pub first: Duration,
    /// The longest pause.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 600_000))]
    pub most: Duration,
    /// The longest all pauses together may take.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 0, "maximum" = 3_600_000))]
    pub budget: Duration,
}

/// How long a server may take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Timeouts {
    /// Until the server is ready for calls.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 3_600_000))]
    pub startup: Duration,
    /// Until a request is answered or shows progress. Where it is longer than the built-in `ceiling`, it is the ceiling, too.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 86_400_000))]
    pub request: Duration,
    /// Until a request is answered, whatever its progress.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 86_400_000))]
    pub ceiling: Duration,
}

/// A rate limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rate {
    /// Calls in a period; all of them may come at once.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub calls: u32,
    /// The period; one minute unless it is given.
    #[serde(with = "kind", default = "minute")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 86_400_000))]
    pub per: Duration,
}

/// How lists are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lists {
    /// How old a list may get when the server gives no hint.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 0, "maximum" = 86_400_000))]
    pub ttl: Duration,
    /// Items of one list that are taken; the rest is left out, and said so.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub items: u32,
    /// Pages of one list that are followed.
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
