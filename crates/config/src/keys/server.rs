//! A server as written in the file: all kinds in one object, because `type` is optional.

use super::kind;
use crate::settings::{Adapter, EraSetting, GrantSetting, Pack, ServerOptions, ToolChange, TransportSetting};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// One server.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the configuration")]
pub(crate) struct WrittenServer {
    /// Kind of server. Default: `local` with `command`, `remote` with `url`, `builtin` with
    /// `pack`.
    #[serde(rename = "type")]
    #[expect(dead_code, reason = "the kind is read from the tree, where it may be left out")]
    pub(crate) kind: Option<Kind>,
    /// True if the server is used. Default: `true`.
    #[expect(dead_code, reason = "a server that is switched off is not read")]
    pub(crate) enabled: Option<bool>,
    /// Local: the program and its arguments, one item each; started without a shell.
    #[schemars(schema_with = "kind::command")]
    #[serde(default)]
    pub(crate) command: Vec<String>,
    /// Local: environment variables in addition to the short list that every program inherits.
    #[schemars(schema_with = "kind::secrets")]
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "variables are taken from the tree, where it is known what of them may be shown"
    )]
    pub(crate) environment: BTreeMap<String, String>,
    /// Local: names of further environment variables that the program inherits.
    #[schemars(schema_with = "kind::names")]
    #[serde(default)]
    pub(crate) inherit: Vec<String>,
    /// Local: working directory of the program. Default: the directory of the configuration file.
    #[schemars(schema_with = "kind::path")]
    pub(crate) cwd: Option<String>,
    /// Local: offer other tools than the server's own: those of the pack `documents`, with
    /// `docling-mcp` as their converter. Default: none.
    pub(crate) adapter: Option<Adapter>,
    /// Remote: the server's URL, `http` or `https`.
    #[schemars(schema_with = "kind::url")]
    pub(crate) url: Option<String>,
    /// Remote: headers sent with every request.
    #[schemars(schema_with = "kind::secrets")]
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "headers are taken from the tree, where it is known what of them may be shown"
    )]
    pub(crate) headers: BTreeMap<String, String>,
    /// Remote: headers of the caller's request that are passed on, by the name that the server
    /// gets: `{"X-Tenant": "X-Tenant", "X-Tickets-Token": "Authorization"}`. Callers with other
    /// values have their own sessions and lists.
    #[schemars(schema_with = "kind::header_names")]
    #[serde(default)]
    pub(crate) caller_headers: BTreeMap<String, String>,
    /// Remote: how to obtain a token if the server requires one; `trunkline auth login` signs in.
    /// `false`: never; otherwise the values that cannot be discovered from the server.
    #[schemars(schema_with = "oauth")]
    pub(crate) oauth: Option<WrittenOAuth>,
    /// Remote: the transport. Default: `auto`.
    #[serde(default)]
    pub(crate) transport: TransportSetting,
    /// Remote: whether credentials may be sent over plain `http` to another machine. Default:
    /// `false`.
    #[serde(default)]
    pub(crate) insecure: bool,
    /// Local and remote: protocol revisions to speak. Default: `MCP_PROTOCOL_VERSION`, or `auto`.
    #[serde(default)]
    pub(crate) era: EraSetting,
    /// Builtin: the tool pack.
    pub(crate) pack: Option<Pack>,
    /// Builtin, and local with an `adapter`: the directory, or directories, that the tools work in.
    /// Default: the current one.
    #[schemars(schema_with = "kind::paths")]
    #[expect(dead_code, reason = "one or several: read from the tree")]
    pub(crate) root: Option<serde_json::Value>,
    /// Builtin: whether to offer tools that change files and repositories. Default: `false`.
    #[serde(default)]
    pub(crate) write: bool,
    /// Builtin: whether to offer tools that build, test and run programs with your permissions.
    /// Default: `false`.
    #[serde(default)]
    pub(crate) run: bool,
    /// Builtin: whether to offer tools that access the network. Default: `false`.
    #[serde(default)]
    pub(crate) network: bool,
    /// Builtin: whether to offer older names of tools, too. Default: `false`.
    #[serde(default)]
    pub(crate) compatibility: bool,
    /// Builtin `ci`: projects on GitHub (`owner/name`); the token is read from `GITHUB_TOKEN`.
    #[schemars(schema_with = "kind::names")]
    #[serde(default)]
    pub(crate) github: Vec<String>,
    /// Builtin `ci`: projects on GitLab (`group/name`); the token is read from `GITLAB_TOKEN`.
    #[schemars(schema_with = "kind::names")]
    #[serde(default)]
    pub(crate) gitlab: Vec<String>,
    /// Offered tools, by the server's own names or patterns. Default: all.
    #[schemars(schema_with = "kind::globs")]
    pub(crate) allow: Option<Vec<String>>,
    /// Tools that are not offered even if `allow` matches.
    #[schemars(schema_with = "kind::globs")]
    #[serde(default)]
    pub(crate) deny: Vec<String>,
    /// Changes to tools, by the server's own name or a pattern. For each setting, the first match
    /// wins.
    #[serde(default)]
    #[expect(dead_code, reason = "the order counts, so it is read from the tree")]
    pub(crate) tools: BTreeMap<String, ToolChange>,
    #[serde(flatten)]
    pub(crate) options: ServerOptions,
}

/// The kind of a server, which decides how it is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A program that is started and speaks MCP over stdio.
    Local,
    /// A server with an HTTP address.
    Remote,
    /// A built-in tool pack.
    Builtin,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum WrittenOAuth {
    Switch(bool),
    Client(Box<WrittenOAuthClient>),
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WrittenOAuthClient {
    /// The way to a token. Default: `login`.
    #[serde(default)]
    pub(crate) grant: GrantSetting,
    /// Id of a registered OAuth client. Default: `clientMetadataUrl` if the authorization server
    /// supports it, else a client is registered dynamically.
    pub(crate) client_id: Option<String>,
    /// Secret of the OAuth client, if it has one.
    #[schemars(schema_with = "kind::secret")]
    #[expect(
        dead_code,
        reason = "the secret is taken from the tree, where it is known what of it may be shown"
    )]
    pub(crate) client_secret: Option<String>,
    /// PEM text of the client's private key, instead of a secret: `{file:key.pem}`.
    #[schemars(schema_with = "kind::secret")]
    #[expect(
        dead_code,
        reason = "the key is taken from the tree, where it is known what of it may be shown"
    )]
    pub(crate) private_key: Option<String>,
    /// Id of the private key in the client's published key set.
    pub(crate) key_id: Option<String>,
    /// URL of our client-id metadata document, used as client id.
    #[schemars(schema_with = "kind::url")]
    pub(crate) client_metadata_url: Option<String>,
    /// Scopes to request. Default: those that the server names.
    #[schemars(schema_with = "kind::names")]
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
    /// Local port of the redirect URI.
    #[schemars(range(min = 1, max = 65_535))]
    pub(crate) callback_port: Option<u16>,
    /// Full redirect URI, if the client is registered with a specific one.
    #[schemars(schema_with = "kind::url")]
    pub(crate) redirect_uri: Option<String>,
    /// Authorization endpoint. Default: discovered.
    #[schemars(schema_with = "kind::url")]
    pub(crate) auth_endpoint: Option<String>,
    /// Token endpoint. Default: discovered.
    #[schemars(schema_with = "kind::url")]
    pub(crate) token_endpoint: Option<String>,
    /// URL of the authorization server's metadata. Default: discovered.
    #[schemars(schema_with = "kind::url")]
    pub(crate) metadata_url: Option<String>,
    /// Resource (RFC 8707) that the token is requested for. Default: the server's URL.
    pub(crate) resource: Option<String>,
    /// Audience of the token that the caller's token is exchanged for. Default: only `resource` is
    /// sent.
    pub(crate) audience: Option<String>,
    /// Type of the caller's token in an exchange. Default:
    /// `urn:ietf:params:oauth:token-type:access_token`.
    pub(crate) subject_token_type: Option<String>,
}

fn oauth(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let mut schema = WrittenOAuthClient::json_schema(generator);
    schema.insert("type".to_owned(), serde_json::json!(["object", "boolean"]));
    schema
}
