//! How the door is kept: limits on clients, records, telemetry.

use super::options::Rate;
use crate::keys::kind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, time::Duration};

/// Bounds on what clients may make the gateway hold or wait for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Bytes of a request's body, or of a line on standard input.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub body_bytes: u64,
    /// How long the head of a request may take, and how long a new connection may say nothing.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 100, "maximum" = 600_000))]
    pub header_timeout: Duration,
    /// How long a connection may lie unused between requests.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 100, "maximum" = 3_600_000))]
    pub idle_timeout: Duration,
    /// How long the body of a request may take.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 100, "maximum" = 3_600_000))]
    pub body_timeout: Duration,
    /// How long a client may take nothing of what is sent to it before its connection is closed.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 100, "maximum" = 3_600_000))]
    pub write_timeout: Duration,
    /// Connections at once. A further one takes the place of the one that has lain unused longest; if all are in use, it waits.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub connections: u32,
    /// Sessions of clients of older revisions at once; further ones are refused.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub sessions: u32,
    /// How long a session may be silent before it is forgotten.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1000, "maximum" = 604_800_000))]
    pub session_idle: Duration,
    /// Requests of one session under way at once.
    #[schemars(range(min = 1, max = 10_000))]
    pub calls: u32,
    /// Calls that wait for an answer of their client.
    #[schemars(range(min = 1, max = 100_000))]
    pub parked: u32,
    /// How long such a call waits.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1000, "maximum" = 86_400_000))]
    pub parked_for: Duration,
    /// Events kept per stream for a client that comes back.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub replay_events: u32,
    /// Bytes kept per stream for a client that comes back.
    #[schemars(range(min = 0, max = 1_073_741_824))]
    pub replay_bytes: u64,
    /// How often a quiet stream gets a sign of life.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1000, "maximum" = 600_000))]
    pub keep_alive: Duration,
    /// How long the first lists wait for servers that are being started, while others have answered.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 0, "maximum" = 60_000))]
    pub list_grace: Duration,
    /// How long running calls may take to finish when the gateway is told to stop.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 0, "maximum" = 3_600_000))]
    pub drain: Duration,
    /// The most requests of one caller in a period, lists included. `null`: any number.
    #[schemars(schema_with = "super::options::rate")]
    pub per_caller: Option<Rate>,
    /// The most calls of one tool in a period. `null`: any number.
    #[schemars(schema_with = "super::options::rate")]
    pub per_tool: Option<Rate>,
}

/// The trail of who called what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Audit {
    /// Whether a trail is kept.
    pub enabled: bool,
    /// Where; `null`: below `$XDG_STATE_HOME/trunkline/audit`, a directory for each run.
    #[schemars(schema_with = "kind::path")]
    pub directory: Option<PathBuf>,
    /// When records are on the disk itself. Either way they are with the system before a call runs and before it is answered, so
    /// that killing the gateway loses none. `batch`: the disk has them within a second, which a power cut can take; `sync`: before a
    /// call that may change something runs, which makes it wait for the disk.
    pub durability: Durability,
    /// Size at which a file of the trail is followed by the next.
    #[schemars(range(min = 65_536, max = 1_099_511_627_776_u64))]
    pub segment_bytes: u64,
    /// Longest wait for the disk.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 100, "maximum" = 600_000))]
    pub patience: Duration,
    /// What becomes of calls that cannot be recorded.
    pub when_it_fails: WhenItFails,
}

/// When records are on the disk itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    Sync,
    Batch,
}

/// What becomes of calls that cannot be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenItFails {
    /// All are refused.
    RefuseAll,
    /// Those are refused that may change something.
    RefuseChanges,
    /// They are made all the same.
    Allow,
}

/// One line for each request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessLog {
    /// Whether it is written.
    pub enabled: bool,
    /// Where; `null`: to standard error.
    #[schemars(schema_with = "kind::path")]
    pub file: Option<PathBuf>,
}

/// A part of what is offered, at `/mcp/<view>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct View {
    /// The servers whose tools, prompts and resources are in it, by name or pattern; all unless it is given.
    #[serde(default = "everything")]
    #[schemars(schema_with = "kind::globs")]
    pub servers: Vec<String>,
    /// The tools that are in it, by public name (`<server>_<tool>`) or pattern; all unless it is given.
    #[serde(default = "everything")]
    #[schemars(schema_with = "kind::globs")]
    pub tools: Vec<String>,
    /// Tools that are not in it although `tools` says so.
    #[serde(default)]
    #[schemars(schema_with = "kind::globs")]
    pub hide: Vec<String>,
    /// What tools are called: `prefixed` with their server's name, or `bare`, as their servers call them. Bare names that would meet keep their prefix.
    #[serde(default)]
    pub naming: Naming,
    /// What the view is for; clients see it as instructions.
    #[serde(default)]
    pub description: Option<String>,
}

/// What tools are called in a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Naming {
    #[default]
    Prefixed,
    Bare,
}

/// What callers of one role may use, and who they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Role {
    /// Tools that may be used, by public name (`<server>_<tool>`) or pattern; all unless it is given.
    #[serde(default = "everything")]
    #[schemars(schema_with = "kind::globs")]
    pub allow: Vec<String>,
    /// Tools that may not be used although `allow` says so.
    #[serde(default)]
    #[schemars(schema_with = "kind::globs")]
    pub deny: Vec<String>,
    /// Callers who have the role: ids of API keys, subjects of tokens, `local` for whoever runs the gateway on standard input. Keys and tokens may
    /// name their roles themselves, too.
    #[serde(default)]
    #[schemars(schema_with = "kind::names")]
    pub callers: Vec<String>,
    /// Scopes of a token, each of which gives the role.
    #[serde(default)]
    #[schemars(schema_with = "kind::names")]
    pub scopes: Vec<String>,
}

fn everything() -> Vec<String> {
    vec!["*".to_owned()]
}
