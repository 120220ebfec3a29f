//! Settings: resolved, validated, plain data. The binary builds components from them.

mod documents;
mod hook;
mod options;
mod policy;
mod server;
mod serving;

use crate::{secret::Secret, source::Origin};
use serde::Serialize;
use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf};
use trunkline_protocol::ServerName;

pub use documents::{DocumentFetch, Documents, OcrSetting};
pub use hook::{Hook, HookEvent, HookFailure, HookRun, HookShows};
pub use options::{
    Arguments, Breaker, Lists, Rate, Restart, Retry, ServerOptions, Sessions, Start, Timeouts,
};
pub use policy::{ArgumentCondition, Policy, PolicyConsent, PolicyEffect, PolicyRule, TimeWindow};
pub use server::{
    Adapted, Adapter, Builtin, EraSetting, GrantSetting, Local, OAuth, OAuthClient, Pack, Reach, Remote,
    Server, ToolChange, ToolRule, TransportSetting, Unusable,
};
pub use serving::{
    AccessLog, Audit, ClientCertificates, Durability, Errors, Handshake, Limits, LockSetting, Naming, Role,
    ToolDisclosure, View, WhenItFails,
};

/// The effective settings of all files, variables and flags.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Listen address; `None`: the default address.
    pub listen: Option<SocketAddr>,
    pub tls: Option<Tls>,
    /// Other machines may be served over plain HTTP.
    pub insecure_http: bool,
    /// The origin under which callers and their browsers reach this server, without a slash at
    /// its end.
    pub public_url: Option<String>,
    /// Enabled servers, by name.
    #[serde(serialize_with = "by_name")]
    pub servers: BTreeMap<ServerName, Server>,
    /// Names of disabled servers. Their references are not resolved.
    #[serde(serialize_with = "names")]
    pub disabled: Vec<ServerName>,
    /// Default options of servers.
    pub defaults: ServerOptions,
    /// The form in which the main view lists tools.
    pub disclosure: ToolDisclosure,
    /// Tokens that the listed tools of the main view may cost.
    pub tool_budget: Option<u64>,
    pub lock: LockSetting,
    /// The lock file; `None`: beside the configuration file.
    pub lock_file: Option<PathBuf>,
    pub views: BTreeMap<String, View>,
    pub roles: BTreeMap<String, Role>,
    /// The role of callers without another role. If it is not set, such callers may use everything
    /// if no roles are configured, and nothing otherwise.
    pub default_role: Option<String>,
    pub policy: Policy,
    pub auth: Auth,
    pub handshake: Handshake,
    pub errors: Errors,
    /// Hooks by name.
    pub hooks: BTreeMap<String, Hook>,
    pub limits: Limits,
    pub audit: Audit,
    pub access_log: AccessLog,
    pub telemetry: Telemetry,
    pub store: StorePlace,
    pub documents: Documents,
}

/// TLS of the listener.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tls {
    /// The certificate and those of intermediate authorities.
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// Authorities whose certificates identify clients.
    pub client_authorities: Option<PathBuf>,
    pub client_certificates: ClientCertificates,
}

/// Authentication of clients.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Auth {
    /// The API key file.
    pub keys: Option<PathBuf>,
    pub jwt: Option<Jwt>,
    /// Further issuers of tokens, by a name of the user's choice.
    pub issuers: BTreeMap<String, Issuer>,
    /// Further host names accepted in requests.
    pub hosts: Vec<String>,
    /// Origins of web pages that may send requests.
    pub origins: Vec<String>,
    /// Addresses and networks of reverse proxies whose forwarding headers are believed.
    pub trusted_proxies: Vec<String>,
    /// File with the key that seals the states of servers.
    pub state_key: Option<PathBuf>,
}

/// Accepted JWTs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Jwt {
    pub issuer: String,
    pub audience: String,
    pub jwks: JwksPlace,
    pub roles_claim: String,
    /// Scopes that every token must carry.
    pub scopes: Vec<String>,
    /// Claims that rules of the policy mention.
    #[serde(skip)]
    pub claims: Vec<String>,
}

/// An issuer of tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Issuer {
    pub issuer: String,
    pub audience: String,
    pub tokens: IssuedTokens,
    pub roles_claim: String,
    /// Our roles by the values of that claim; empty: the values are our roles.
    pub roles: BTreeMap<String, String>,
    /// Scopes that every token must carry.
    pub scopes: Vec<String>,
    /// Claims that rules of the policy mention.
    #[serde(skip)]
    pub claims: Vec<String>,
}

/// The kind of tokens that an issuer issues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum IssuedTokens {
    /// Signed ones (JWT), verified with the issuer's public keys.
    Signed(JwksPlace),
    /// Opaque tokens: the issuer is asked about each.
    Opaque(Introspection),
}

/// The introspection endpoint of an issuer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Introspection {
    pub url: String,
    pub client_id: String,
    pub client_secret: Secret,
    /// Time for which an answer is used again.
    #[serde(with = "crate::keys::kind")]
    pub keep: std::time::Duration,
}

/// Source of an issuer's public keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JwksPlace {
    File(PathBuf),
    Url(String),
}

/// Place of the data that outlives a request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StorePlace {
    /// Memory of this process; nothing is left after a restart.
    #[default]
    Memory,
    Path(PathBuf),
    /// A Redis or Valkey server; the address may hold a password.
    Url(Secret),
}

impl Auth {
    /// True if callers need a key or token.
    pub fn identifies(&self) -> bool {
        self.keys.is_some() || self.jwt.is_some() || !self.issuers.is_empty()
    }
}

impl JwksPlace {
    /// A text with a scheme is a URL, another one a file.
    pub fn parse(text: String) -> Self {
        if text.contains("://") { Self::Url(text) } else { Self::File(text.into()) }
    }
}

/// Export of traces to an OpenTelemetry collector.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Telemetry {
    /// The OTLP/HTTP endpoint; `None`: no export.
    pub endpoint: Option<String>,
    pub headers: BTreeMap<String, Secret>,
    pub service_name: String,
    /// Sampling ratio of traces, 0 to 1.
    pub sample: f64,
    #[serde(with = "crate::keys::kind")]
    pub timeout: std::time::Duration,
}

impl Default for Telemetry {
    /// The settings without any configuration.
    fn default() -> Self {
        Self {
            endpoint: None,
            headers: BTreeMap::new(),
            service_name: "trunkline".to_owned(),
            sample: 1.0,
            timeout: std::time::Duration::from_secs(10),
        }
    }
}

/// Differences in the servers of two settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerChanges {
    pub added: Vec<ServerName>,
    pub removed: Vec<ServerName>,
    /// Servers in both settings that differ.
    pub changed: Vec<ServerName>,
}

/// The place of each server's definition; kept separately, so that a moved line does not count as
/// a change.
pub type Origins = BTreeMap<ServerName, Origin>;

impl Settings {
    /// The servers that a reload has to change; all others stay as they are.
    pub fn server_changes(&self, after: &Self) -> ServerChanges {
        let missing = |from: &Self, other: &Self| {
            from.servers.keys().filter(|name| !other.servers.contains_key(name)).cloned().collect()
        };
        let differs = |(name, server): (&ServerName, &Server)| {
            after.servers.get(name).is_some_and(|now| now != server).then(|| name.clone())
        };
        ServerChanges {
            added: missing(after, self),
            removed: missing(self, after),
            changed: self.servers.iter().filter_map(differs).collect(),
        }
    }
}

// `sample` is checked to be a number between 0 and 1, so equality is total.
impl Eq for Telemetry {}

fn by_name<S: serde::Serializer>(map: &BTreeMap<ServerName, Server>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(map.iter().map(|(name, server)| (name.as_ref(), server)))
}

fn names<S: serde::Serializer>(names: &[ServerName], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(names.iter().map(AsRef::<str>::as_ref))
}
