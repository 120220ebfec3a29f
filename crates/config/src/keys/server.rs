//! A server as it is written: all kinds in one object, because `type` may be left out.

use super::kind;
use crate::settings::{EraSetting, Pack, ServerOptions, ToolChange, TransportSetting};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// One server.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the configuration")]
pub(crate) struct WrittenServer {
    /// How it is reached. Where it is left out, `command` means `local`, `url` means `remote` and `pack` means `builtin`.
    #[serde(rename = "type")]
    #[expect(dead_code, reason = "the kind is read from the tree, where it may be left out")]
    pub(crate) kind: Option<Kind>,
    /// Whether it is used at all; `true` unless it is given.
    #[expect(dead_code, reason = "a server that is switched off is not read")]
    pub(crate) enabled: Option<bool>,
    /// Local: the program and its arguments, one word each. No shell is involved.
    #[schemars(schema_with = "command")]
    #[serde(default)]
    pub(crate) command: Vec<String>,
    /// Local: variables besides the short list that every program inherits.
    #[schemars(schema_with = "kind::secrets")]
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "variables are taken from the tree, where it is known what of them may be shown"
    )]
    pub(crate) environment: BTreeMap<String, String>,
    /// Local: names of further variables that the program inherits.
    #[schemars(schema_with = "kind::names")]
    #[serde(default)]
    pub(crate) inherit: Vec<String>,
    /// Local: where the program runs; the directory of the file that names it unless it is given.
    #[schemars(schema_with = "kind::path")]
    pub(crate) cwd: Option<String>,
    /// Remote: the address, `http` or `https`.
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
    /// Remote: how a token is got when the server wants one. `false`: never; otherwise what cannot be found out from the server.
    #[schemars(schema_with = "oauth")]
    pub(crate) oauth: Option<WrittenOAuth>,
    /// Remote: the transport; `auto` unless it is given.
    #[serde(default)]
    pub(crate) transport: TransportSetting,
    /// Remote: whether credentials may go over plain `http` to another machine; `false` unless it is given.
    #[serde(default)]
    pub(crate) insecure: bool,
    /// Local and remote: the revisions to speak; `auto` unless it is given.
    #[serde(default)]
    pub(crate) era: EraSetting,
    /// Builtin: which of our own packs.
    pub(crate) pack: Option<Pack>,
    /// Builtin: the directory, or directories, it works in; the current one unless it is given.
    #[schemars(schema_with = "kind::paths")]
    #[expect(dead_code, reason = "one or several: read from the tree")]
    pub(crate) root: Option<serde_json::Value>,
    /// Builtin: whether tools are offered that change files and repositories; `false` unless it is given.
    #[serde(default)]
    pub(crate) write: bool,
    /// Builtin: whether tools are offered that build, test and run programs, with your rights; `false` unless it is given.
    #[serde(default)]
    pub(crate) run: bool,
    /// Builtin: whether tools are offered that talk to other machines; `false` unless it is given.
    #[serde(default)]
    pub(crate) network: bool,
    /// Builtin: whether older names of tools are offered, too; `false` unless it is given.
    #[serde(default)]
    pub(crate) compatibility: bool,
    /// Builtin `ci`: projects on GitHub (`owner/name`); the token is taken from `GITHUB_TOKEN`.
    #[schemars(schema_with = "kind::names")]
    #[serde(default)]
    pub(crate) github: Vec<String>,
    /// Builtin `ci`: projects on GitLab (`group/name`); the token is taken from `GITLAB_TOKEN`.
    #[schemars(schema_with = "kind::names")]
    #[serde(default)]
    pub(crate) gitlab: Vec<String>,
    /// The tools that are offered, by the server's own names or patterns; all unless it is given.
    #[schemars(schema_with = "kind::globs")]
    pub(crate) allow: Option<Vec<String>>,
    /// Tools that are not offered although `allow` says so.
    #[schemars(schema_with = "kind::globs")]
    #[serde(default)]
    pub(crate) deny: Vec<String>,
    /// What is different about some tools, by the server's own name or a pattern. The first that fits decides.
    #[serde(default)]
    #[expect(dead_code, reason = "the order counts, so it is read from the tree")]
    pub(crate) tools: BTreeMap<String, ToolChange>,
    #[serde(flatten)]
    pub(crate) options: ServerOptions,
}

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A program that is started and speaks on its standard input and output.
    Local,
    /// An address.
    Remote,
    /// One of our own packs.
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
    /// The client that was registered for us; without it we register one.
    pub(crate) client_id: Option<String>,
    /// Its secret, if it has one.
    #[schemars(schema_with = "kind::secret")]
    #[expect(
        dead_code,
        reason = "the secret is taken from the tree, where it is known what of it may be shown"
    )]
    pub(crate) client_secret: Option<String>,
    /// What to ask for; what the server names unless it is given.
    #[schemars(schema_with = "kind::names")]
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
    /// The port on this machine that the browser comes back to.
    #[schemars(range(min = 1, max = 65_535))]
    pub(crate) callback_port: Option<u16>,
    /// The whole address that the browser comes back to, where it was registered so.
    #[schemars(schema_with = "kind::url")]
    pub(crate) redirect_uri: Option<String>,
    /// Where to ask the person; found out unless it is given.
    #[schemars(schema_with = "kind::url")]
    pub(crate) auth_endpoint: Option<String>,
    /// Where to get the token; found out unless it is given.
    #[schemars(schema_with = "kind::url")]
    pub(crate) token_endpoint: Option<String>,
    /// The authorization server's own description; found out unless it is given.
    #[schemars(schema_with = "kind::url")]
    pub(crate) metadata_url: Option<String>,
    /// What the token is asked for; the server's address unless it is given.
    pub(crate) resource: Option<String>,
}

fn oauth(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let mut schema = WrittenOAuthClient::json_schema(generator);
    schema.insert("type".to_owned(), serde_json::json!(["object", "boolean"]));
    schema
}

fn command(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "array", "items": {"type": "string", "x-kind": "word"}, "minItems": 1, "maxItems": 1000})
}
