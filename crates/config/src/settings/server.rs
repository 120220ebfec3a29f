//! One server as it is to be reached.

use super::options::{ServerOptions, Timeouts};
use crate::{keys::kind, secret::Secret};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf, time::Duration};
use trunkline_protocol::ServerName;

/// One server. Two are equal when nothing about them differs that matters to a running gateway, wherever it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    #[serde(serialize_with = "display")]
    pub name: ServerName,
    pub reach: Reach,
    pub options: ServerOptions,
    /// Tools that are offered, by the server's own name or pattern.
    pub allow: Vec<String>,
    /// Tools that are not offered although `allow` says so.
    pub deny: Vec<String>,
    /// What is different about some tools, in the order in which it is written. The first rule whose name or pattern fits, and that says
    /// something about a matter, decides it.
    pub tools: Vec<ToolRule>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "type")]
pub enum Reach {
    Local(Local),
    Remote(Remote),
    Builtin(Builtin),
}

/// A program that speaks on its standard input and output. No shell is involved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Local {
    pub program: String,
    pub arguments: Vec<Secret>,
    /// Variables besides the short list that every program inherits.
    pub environment: BTreeMap<String, Secret>,
    /// Names of further variables that the program inherits.
    pub inherit: Vec<String>,
    /// Where the program runs: `cwd`, or else the directory of the file that names it.
    pub directory: PathBuf,
    pub era: EraSetting,
}

/// An address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Remote {
    /// Begins with `http://` or `https://`.
    pub url: Secret,
    pub headers: BTreeMap<String, Secret>,
    pub oauth: OAuth,
    pub transport: TransportSetting,
    pub era: EraSetting,
    /// Whether credentials may go over plain http to another machine.
    pub insecure: bool,
}

/// How we get a token for a server that wants one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OAuth {
    /// We never try.
    Off,
    /// Everything is found out from the server, except what is given here.
    Auto(Box<OAuthClient>),
}

/// What is known about the OAuth client that we are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OAuthClient {
    pub client_id: Option<String>,
    pub client_secret: Option<Secret>,
    pub scopes: Vec<String>,
    pub callback_port: Option<u16>,
    pub redirect_uri: Option<String>,
    pub auth_endpoint: Option<String>,
    pub token_endpoint: Option<String>,
    pub metadata_url: Option<String>,
    pub resource: Option<String>,
}

/// One of our own packs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the configuration")]
pub struct Builtin {
    pub pack: Pack,
    /// At least one; the first is where relative paths start.
    pub roots: Vec<PathBuf>,
    pub write: bool,
    pub run: bool,
    pub network: bool,
    pub compatibility: bool,
    pub github: Vec<String>,
    pub gitlab: Vec<String>,
}

/// Our own packs of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pack {
    /// Files and directories.
    Filesystem,
    /// Repositories.
    Git,
    /// Builds, tests, and the services that run them.
    Ci,
}

/// Which transport a remote server is reached with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TransportSetting {
    /// Streamable HTTP, and HTTP+SSE where the server does not know it.
    #[default]
    Auto,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE, as of revision 2024-11-05.
    Sse,
}

/// Which revisions are spoken with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EraSetting {
    /// The newest that the server speaks.
    #[default]
    Auto,
    /// Those that begin with `initialize`.
    Legacy,
    /// 2026-07-28 and later.
    Modern,
}

/// What is different about one tool, or those whose names fit a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRule {
    /// The server's own name of the tool, or a pattern of such names.
    pub tool: String,
    #[serde(flatten)]
    pub change: ToolChange,
}

/// What is different about a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolChange {
    /// The name that takes the place of the server's own one; the prefix stays. Not with a pattern.
    #[serde(default)]
    #[schemars(length(min = 1, max = 128))]
    pub rename: Option<String>,
    /// Whether it is left out.
    #[serde(default)]
    pub hide: Option<bool>,
    /// The text that takes the place of the server's description.
    #[serde(default)]
    #[schemars(length(max = 16_384))]
    pub description: Option<String>,
    /// Hints that are set or replaced, such as `readOnlyHint`.
    #[serde(default)]
    pub annotations: serde_json::Map<String, serde_json::Value>,
    /// Whether a call may be sent twice without harm, so that it is repeated when the connection breaks.
    #[serde(default)]
    pub idempotent: Option<bool>,
    /// How long a call may take without progress.
    #[serde(default, with = "kind::optional")]
    #[schemars(schema_with = "kind::optional_time", extend("minimum" = 1, "maximum" = 86_400_000))]
    pub timeout: Option<Duration>,
}

impl Server {
    /// The time limits for one tool: the first rule that fits and gives a time, or else those of the server.
    pub fn timeouts(&self, change: Option<&ToolChange>) -> Timeouts {
        let all = &self.options.timeout;
        match change.and_then(|change| change.timeout) {
            None => all.clone(),
            Some(request) => Timeouts { request, ceiling: all.ceiling.max(request), ..all.clone() },
        }
    }
}

fn display<S: serde::Serializer>(name: &ServerName, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(name)
}
