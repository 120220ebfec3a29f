//! The configuration file as a whole.

use super::{kind, server::WrittenServer};
use crate::settings::{
    AccessLog, Audit, ClientCertificates, Documents, Errors, Handshake, HookEvent, HookFailure, HookShows,
    Limits, LockSetting, Policy, Role, ServerOptions, ToolDisclosure, View,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

/// Trunkline's configuration: servers and their options, views, and access control.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "it is read by way of the schema that is made from it")]
pub(crate) struct Document {
    /// URL of this file's JSON Schema, for editors.
    #[serde(rename = "$schema")]
    schema: Option<String>,
    /// Address and port to listen on. `null`: 127.0.0.1:8425. `9001`, `:9001` and
    /// `localhost:9001` are on 127.0.0.1.
    #[schemars(schema_with = "kind::address")]
    listen: Option<String>,
    /// TLS of the listener. `null`: plain HTTP.
    #[schemars(schema_with = "tls")]
    tls: Option<WrittenTls>,
    /// Serve other machines over plain HTTP, for example behind a proxy that encrypts. Without it,
    /// an address other than loopback needs `tls`.
    insecure_http: bool,
    /// URL under which callers and their browsers reach this server, without a path, such as
    /// `https://mcp.example.com`. `null`: the address that it listens on. Links for logins of
    /// callers begin with it.
    #[schemars(schema_with = "kind::url")]
    public_url: Option<String>,
    /// Settings of the Model Context Protocol.
    mcp: Mcp,
    /// Default options of all servers.
    defaults: ServerOptions,
    /// How `/mcp` lists tools. `all`: every tool, whole. `names`: names and one-line descriptions;
    /// `describe_tool` gives the rest. `search`: three tools, `search_tools`, `describe_tool` and
    /// `call_tool`, which find, describe and call all others. `auto`: `all` while the tools fit
    /// into `toolBudget`, else `search`.
    disclosure: ToolDisclosure,
    /// Tokens that the listed tools of `/mcp` may cost a model, estimated as bytes / 4. `null`: no
    /// budget. Above it, a warning is logged.
    #[schemars(range(min = 1))]
    tool_budget: Option<u64>,
    /// Use of the lock file, which `trunkline lock` writes. `report`: definitions that differ from
    /// it are logged and shown in the status. `enforce`: they are not offered until
    /// `trunkline lock accept`. `off`: it is not read.
    lock: LockSetting,
    /// The lock file. `null`: `trunkline.lock` beside your own configuration file or the named one;
    /// beside a project's file only if you have neither.
    #[schemars(schema_with = "kind::path")]
    lock_file: Option<PathBuf>,
    /// Subsets of the tools, prompts and resources, each served at `/mcp/<view>`. Names are 1 to
    /// 64 letters, digits, `-` or `_`; `server` is reserved.
    views: BTreeMap<String, View>,
    /// Roles and the tools they may use. Without roles, every authenticated caller may use
    /// everything.
    roles: BTreeMap<String, Role>,
    /// The role of callers without another role.
    default_role: Option<String>,
    /// Rules that decide which calls are allowed, denied, or put to a person.
    policy: Policy,
    /// Authentication of clients. Without keys and tokens, only programs of this machine are
    /// accepted.
    auth: WrittenAuth,
    /// Handshake of clients of older revisions: `required` refuses requests before `initialize`,
    /// `optional` answers them.
    handshake: Handshake,
    /// Errors of tool calls. `standard`: a failed tool, bad arguments and a timeout of our own
    /// tools are results with `isError`. `classic`: they are JSON-RPC errors (-32601 unknown tool,
    /// -32602 bad arguments, -32603 failure, -32000 timeout).
    errors: Errors,
    /// Hooks: programs or endpoints that see tool calls, and may deny or annotate them. They run in
    /// the order of their names.
    hooks: BTreeMap<String, WrittenHook>,
    /// Limits for clients: sizes, timeouts and numbers of connections, sessions and calls.
    limits: Limits,
    /// The audit trail: a record of every call and its caller.
    audit: Audit,
    /// The access log: one line for each request.
    access_log: AccessLog,
    /// Export of traces to an OpenTelemetry collector.
    telemetry: WrittenTelemetry,
    /// The store: data that outlives a request, such as executions and their results. Neither
    /// `path` nor `url`: kept in memory, and lost when the process ends.
    store: WrittenStore,
    /// Conversion of documents: limits of the process that converts, of kept documents, and of
    /// URLs.
    documents: Documents,
}

/// Settings of the Model Context Protocol.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is read by way of the schema that is made from it")]
pub(crate) struct Mcp {
    /// Servers by name. Names are 1 to 32 letters, digits or `-`; tools are named
    /// `<server>_<tool>`.
    servers: BTreeMap<String, WrittenServer>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WrittenTls {
    /// PEM file with the certificate, followed by those of intermediate authorities. Required. It
    /// is read again when it changes; connections stay open.
    #[schemars(schema_with = "kind::path")]
    pub(crate) certificate: Option<PathBuf>,
    /// PEM file with the private key. Required.
    #[schemars(schema_with = "kind::path")]
    pub(crate) key: Option<PathBuf>,
    /// PEM file with the authorities whose certificates identify clients. The subject of such a
    /// certificate is the caller `cert:<subject>`. `null`: no certificates are asked for.
    #[schemars(schema_with = "kind::path")]
    pub(crate) client_authorities: Option<PathBuf>,
    /// With `clientAuthorities`: whether a client needs a certificate. `required` (default): it
    /// cannot connect without one; `optional`: without one it needs a key or token.
    #[serde(default)]
    pub(crate) client_certificates: ClientCertificates,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WrittenAuth {
    /// API key file: `{"keys": [{"id", "sha256", "roles", "scopes", "expires"}]}`.
    #[schemars(schema_with = "kind::path")]
    pub(crate) keys: Option<PathBuf>,
    /// Signed tokens (JWT).
    #[schemars(schema_with = "jwt")]
    pub(crate) jwt: Option<WrittenJwt>,
    /// Further issuers of tokens, by any name.
    pub(crate) issuers: BTreeMap<String, WrittenIssuer>,
    /// Further host names accepted in requests, such as that of a reverse proxy.
    #[schemars(schema_with = "kind::names")]
    pub(crate) hosts: Vec<String>,
    /// Origins of web pages that may send requests to the gateway.
    #[schemars(schema_with = "kind::names")]
    pub(crate) origins: Vec<String>,
    /// Addresses and networks (`10.0.0.0/8`) of reverse proxies. Their `X-Forwarded-For` or
    /// `Forwarded` header names the address whose failed attempts are counted; the same headers
    /// from other peers are ignored.
    #[schemars(schema_with = "kind::names")]
    pub(crate) trusted_proxies: Vec<String>,
    /// File with a secret of at least 32 bytes, the same for all gateways behind one address: each
    /// then accepts a `requestState` that another one sealed. `null`: a random key per process.
    #[schemars(schema_with = "kind::path")]
    pub(crate) state_key: Option<PathBuf>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WrittenJwt {
    /// Issuer (`iss`) of the tokens. Required.
    #[schemars(schema_with = "kind::url")]
    pub(crate) issuer: Option<String>,
    /// Audience (`aud`) of the tokens: the gateway's public URL. Required.
    pub(crate) audience: Option<String>,
    /// The issuer's public keys (JWKS): a file or an `https` URL. Required.
    #[schemars(schema_with = "kind::path_or_url")]
    pub(crate) jwks: Option<String>,
    /// Claim that lists the caller's roles; dots select members of objects. Default: `roles`.
    pub(crate) roles_claim: Option<String>,
    /// Scopes that every token must carry. A token without all of them is refused with 403 and
    /// the names of those that are missing.
    #[serde(default)]
    #[schemars(schema_with = "kind::names")]
    pub(crate) scopes: Vec<String>,
}

/// An issuer of tokens: of signed ones with `jwks`, of opaque ones with `introspection`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WrittenIssuer {
    /// Issuer (`iss`) of the tokens. Required.
    #[schemars(schema_with = "kind::url")]
    pub(crate) issuer: Option<String>,
    /// Audience (`aud`) of the tokens: the gateway's public URL. Required.
    pub(crate) audience: Option<String>,
    /// Signed tokens: the issuer's public keys (JWKS), a file or an `https` URL.
    #[schemars(schema_with = "kind::path_or_url")]
    pub(crate) jwks: Option<String>,
    /// Opaque tokens: the introspection endpoint (RFC 7662). At most one issuer can have it.
    #[schemars(schema_with = "introspection")]
    pub(crate) introspection: Option<WrittenIntrospection>,
    /// Claim that lists the caller's roles; dots select members of objects. Default: `roles`.
    pub(crate) roles_claim: Option<String>,
    /// Our roles by the values of that claim, such as `{"platform-admins": "admin"}`; other values
    /// give no role. Default: the values are the names of our roles.
    #[serde(default)]
    pub(crate) roles: BTreeMap<String, String>,
    /// Scopes that every token must carry.
    #[serde(default)]
    #[schemars(schema_with = "kind::names")]
    pub(crate) scopes: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WrittenIntrospection {
    /// Address of the endpoint: `https`, or a loopback address. Required.
    #[schemars(schema_with = "kind::url")]
    pub(crate) url: Option<String>,
    /// Our client id at the issuer. Required.
    pub(crate) client_id: Option<String>,
    /// Our client secret at the issuer. Required.
    #[schemars(schema_with = "kind::secret")]
    #[expect(
        dead_code,
        reason = "the secret is taken from the tree, where it is known what of it may be shown"
    )]
    pub(crate) client_secret: Option<String>,
    /// Time for which an answer is used again, and for which a revoked token is still accepted.
    /// Default: `1m`.
    #[serde(default = "one_minute", with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 0, "maximum" = 3_600_000))]
    pub(crate) keep: Duration,
}

fn one_minute() -> Duration {
    Duration::from_mins(1)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WrittenHook {
    /// When it runs: `before` the tool, `after` it succeeded, or on an `error`. Default: `before`.
    #[serde(default = "before")]
    pub(crate) on: Vec<HookEvent>,
    /// Tools whose calls it sees, by public name (`<server>_<tool>`) or pattern. Default: all.
    #[serde(default = "everything")]
    #[schemars(schema_with = "kind::globs")]
    pub(crate) tools: Vec<String>,
    /// The program, as an absolute path, and its arguments; started without a shell. It gets the
    /// event as JSON on standard input. Either `command` or `url` is required.
    #[serde(default)]
    #[schemars(schema_with = "kind::command")]
    pub(crate) command: Vec<String>,
    /// Endpoint that gets the event as the JSON body of a POST request.
    #[schemars(schema_with = "kind::url")]
    pub(crate) url: Option<String>,
    /// Headers of that request, such as credentials.
    #[serde(default)]
    #[schemars(schema_with = "kind::secrets")]
    #[expect(
        dead_code,
        reason = "headers are taken from the tree, where it is known what of them may be shown"
    )]
    pub(crate) headers: BTreeMap<String, String>,
    /// Effect of a hook that cannot be run, times out, or gives no valid answer: `refuse`
    /// (default) the call or withhold its result, or `allow` it.
    #[serde(default)]
    pub(crate) when_it_fails: HookFailure,
    /// Arguments and results that it sees: `masked` (default), `whole`, or `none`.
    #[serde(default)]
    pub(crate) shows: HookShows,
    /// Longest time of one run, the wait for a free place included. Default: 5 s.
    #[serde(default = "five_seconds", with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1, "maximum" = 60_000))]
    pub(crate) timeout: Duration,
    /// Runs at once; further ones wait. Default: 8.
    #[serde(default = "eight")]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) concurrency: u32,
    /// Runs at once for one caller; callers that wait take turns. `null` (default): all but one of
    /// `concurrency`, so that no caller has all of them.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) concurrency_per_caller: Option<u32>,
}

fn before() -> Vec<HookEvent> {
    vec![HookEvent::Before]
}

fn everything() -> Vec<String> {
    vec!["*".to_owned()]
}

fn five_seconds() -> Duration {
    Duration::from_secs(5)
}

fn eight() -> u32 {
    8
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WrittenTelemetry {
    /// The OTLP endpoint (HTTP), such as `http://127.0.0.1:4318`. `null`: nothing is sent.
    #[schemars(schema_with = "kind::url")]
    pub(crate) endpoint: Option<String>,
    /// Headers sent with each export, such as credentials.
    #[schemars(schema_with = "kind::secrets")]
    #[expect(
        dead_code,
        reason = "headers are taken from the tree, where it is known what of them may be shown"
    )]
    pub(crate) headers: BTreeMap<String, String>,
    /// Service name in the exported traces.
    #[schemars(length(min = 1, max = 128))]
    pub(crate) service_name: String,
    /// Sampling ratio of traces.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) sample: f64,
    /// Time limit for one export, including retries.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 100, "maximum" = 600_000))]
    pub(crate) timeout: Duration,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WrittenStore {
    /// File of the store; created when first needed. One process can use it at a time.
    #[schemars(schema_with = "kind::path")]
    pub(crate) path: Option<PathBuf>,
    /// Redis or Valkey server that several processes share, such as
    /// `redis://:{env:REDIS_PASSWORD}@127.0.0.1:6379/0`; `rediss://` uses TLS.
    #[schemars(schema_with = "kind::secret")]
    pub(crate) url: Option<String>,
}

fn jwt(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    or_null(WrittenJwt::json_schema(generator))
}

fn introspection(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    or_null(WrittenIntrospection::json_schema(generator))
}

fn tls(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    or_null(WrittenTls::json_schema(generator))
}

fn or_null(mut schema: schemars::Schema) -> schemars::Schema {
    schema.insert("type".to_owned(), serde_json::json!(["object", "null"]));
    schema
}
