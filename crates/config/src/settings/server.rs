//! Settings of one server.

use super::options::{ServerOptions, Timeouts};
use crate::{keys::kind, secret::Secret};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf, time::Duration};
use trunkline_protocol::ServerName;

/// One server. Two are equal if a running gateway has nothing to change, wherever the settings are
/// written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    #[serde(serialize_with = "display")]
    pub name: ServerName,
    pub reach: Reach,
    pub options: ServerOptions,
    /// Offered tools, by the server's own name or pattern.
    pub allow: Vec<String>,
    /// Tools that are not offered even if `allow` matches.
    pub deny: Vec<String>,
    /// Rules for individual tools, in the order of the file. For each setting, the first matching
    /// rule that sets it wins.
    pub tools: Vec<ToolRule>,
}

/// The kind of a server, which decides how it is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "type")]
pub enum Reach {
    Local(Local),
    Remote(Remote),
    Builtin(Builtin),
    /// It cannot be used until its references can be resolved.
    Unusable(Unusable),
}

/// The reason why a server cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unusable {
    pub reason: String,
}

/// A program that speaks MCP over stdio, started without a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Local {
    pub program: Secret,
    pub arguments: Vec<Secret>,
    /// Environment variables in addition to the short list that every program inherits.
    pub environment: BTreeMap<String, Secret>,
    /// Names of further environment variables that the program inherits.
    pub inherit: Vec<String>,
    /// Working directory: `cwd`, or else the directory of the configuration file.
    pub directory: PathBuf,
    pub era: EraSetting,
    /// Makes it offer other tools than its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<Adapted>,
}

/// An adapter, and the directories whose files its tools may read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Adapted {
    pub adapter: Adapter,
    /// At least one; relative paths are resolved against the first.
    pub roots: Vec<PathBuf>,
}

/// The servers that can be adapted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Adapter {
    /// `docling-mcp` offers the tools of the pack `documents`.
    DoclingMcp,
}

/// A server with an HTTP address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Remote {
    /// Begins with `http://` or `https://`.
    pub url: Secret,
    pub headers: BTreeMap<String, Secret>,
    /// Headers of callers that are passed on: the caller's header in lower case, and the server's.
    pub caller_headers: BTreeMap<String, String>,
    pub oauth: OAuth,
    pub transport: TransportSetting,
    pub era: EraSetting,
    /// True if credentials may be sent over plain http to another machine.
    pub insecure: bool,
}

/// The way to a token for a server that requires one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OAuth {
    /// Never obtain a token.
    Off,
    /// Discover everything from the server, except the values given here.
    Auto(Box<OAuthClient>),
}

/// Known values of our OAuth client registration.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OAuthClient {
    pub grant: GrantSetting,
    pub client_id: Option<String>,
    pub client_secret: Option<Secret>,
    pub private_key: Option<Secret>,
    pub key_id: Option<String>,
    pub client_metadata_url: Option<String>,
    pub scopes: Vec<String>,
    pub callback_port: Option<u16>,
    pub redirect_uri: Option<String>,
    pub auth_endpoint: Option<String>,
    pub token_endpoint: Option<String>,
    pub metadata_url: Option<String>,
    pub resource: Option<String>,
    pub audience: Option<String>,
    pub subject_token_type: Option<String>,
}

/// The way to a token of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GrantSetting {
    /// A user signs in with `trunkline auth login`; the token is renewed unattended.
    #[default]
    Login,
    /// Each caller of the gateway signs in with an own account, by a link that it gets with its
    /// first call.
    CallerLogin,
    /// The client's own credentials: `clientId` with `clientSecret` or `privateKey`.
    ClientCredentials,
    /// The caller's token is exchanged for one for this server (RFC 8693); needs `clientId`.
    TokenExchange,
}

/// A built-in tool pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the configuration")]
pub struct Builtin {
    pub pack: Pack,
    /// At least one; relative paths are resolved against the first.
    pub roots: Vec<PathBuf>,
    pub write: bool,
    pub run: bool,
    pub network: bool,
    pub compatibility: bool,
    pub github: Vec<String>,
    pub gitlab: Vec<String>,
}

/// The built-in tool packs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pack {
    /// Files and directories.
    Filesystem,
    /// Git repositories.
    Git,
    /// Builds, tests, and hosted CI services.
    Ci,
    /// Conversion of documents.
    Documents,
}

/// Transport of a remote server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TransportSetting {
    /// Streamable HTTP, with a fallback to HTTP+SSE.
    #[default]
    Auto,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE, as of revision 2024-11-05.
    Sse,
}

/// Protocol revisions spoken with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EraSetting {
    /// The newest revision that the server supports.
    #[default]
    Auto,
    /// Revisions with the `initialize` handshake, up to 2025-11-25.
    Legacy,
    /// 2026-07-28 and later.
    Modern,
    /// Exactly this revision.
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    /// Exactly this revision.
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    /// Exactly this revision.
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    /// Exactly this revision.
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    /// Exactly this revision.
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

/// A rule for one tool, or for those whose names match a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRule {
    /// The server's own name of the tool, or a pattern.
    pub tool: String,
    #[serde(flatten)]
    pub change: ToolChange,
}

/// Changes to a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolChange {
    /// New name of the tool; the server's prefix stays. Not allowed with a pattern.
    #[serde(default)]
    #[schemars(length(min = 1, max = 128))]
    pub rename: Option<String>,
    /// True if the tool is hidden.
    #[serde(default)]
    pub hide: Option<bool>,
    /// Text that replaces the server's description.
    #[serde(default)]
    #[schemars(length(max = 16_384))]
    pub description: Option<String>,
    /// Annotations to set or replace, such as `readOnlyHint`.
    #[serde(default)]
    pub annotations: serde_json::Map<String, serde_json::Value>,
    /// Tags for policy rules.
    #[serde(default)]
    #[schemars(schema_with = "kind::names")]
    pub tags: Vec<String>,
    /// True if a call can safely be sent twice, so that it is retried when the connection breaks.
    #[serde(default)]
    pub idempotent: Option<bool>,
    /// Timeout for a call without progress.
    #[serde(default, with = "kind::optional")]
    #[schemars(schema_with = "kind::optional_time", extend("minimum" = 1, "maximum" = 86_400_000))]
    pub timeout: Option<Duration>,
}

impl Server {
    /// The timeouts for one tool: from the first matching rule with a timeout, or else the
    /// server's.
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
