//! Settings: resolved, validated, plain data. Nothing in here does anything; the binary makes components of it.

mod options;
mod server;
mod serving;

use crate::{secret::Secret, source::Origin};
use serde::Serialize;
use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf};
use trunkline_protocol::ServerName;

pub use options::{
    Arguments, Breaker, Lists, Rate, Restart, Retry, ServerOptions, Sessions, Start, Timeouts,
};
pub use server::{
    Builtin, EraSetting, Local, OAuth, OAuthClient, Pack, Reach, Remote, Server, ToolChange, ToolRule,
    TransportSetting,
};
pub use serving::{AccessLog, Audit, Durability, Limits, Naming, Role, View, WhenItFails};

/// Everything that the files, variables and flags say, resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Where to listen; `None`: the default address, or the next free port.
    pub listen: Option<SocketAddr>,
    /// The servers that are enabled, by name.
    #[serde(serialize_with = "by_name")]
    pub servers: BTreeMap<ServerName, Server>,
    /// The servers that are configured and switched off. Their references are not looked up.
    #[serde(serialize_with = "names")]
    pub disabled: Vec<ServerName>,
    /// What holds for servers that say nothing else.
    pub defaults: ServerOptions,
    pub views: BTreeMap<String, View>,
    pub roles: BTreeMap<String, Role>,
    /// The role of callers who have no other; without it they may use everything if there are no roles, and nothing if there are.
    pub default_role: Option<String>,
    pub auth: Auth,
    pub limits: Limits,
    pub audit: Audit,
    pub access_log: AccessLog,
    pub telemetry: Telemetry,
}

/// Who is let in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Auth {
    /// The file of API keys.
    pub keys: Option<PathBuf>,
    pub jwt: Option<Jwt>,
    /// Further host names that we answer under.
    pub hosts: Vec<String>,
    /// Origins whose pages may call us.
    pub origins: Vec<String>,
}

/// Whose tokens are taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Jwt {
    pub issuer: String,
    pub audience: String,
    pub jwks: JwksPlace,
    pub roles_claim: String,
}

/// Where an issuer's public keys are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JwksPlace {
    File(PathBuf),
    Url(String),
}

/// Where traces, metrics and logs go.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Telemetry {
    /// The OTLP/HTTP endpoint; `None`: nowhere.
    pub endpoint: Option<String>,
    pub headers: BTreeMap<String, Secret>,
    pub service_name: String,
    /// The share of traces that are kept, 0 to 1.
    pub sample: f64,
    #[serde(with = "crate::keys::kind")]
    pub timeout: std::time::Duration,
}

impl Default for Telemetry {
    /// What holds where nothing is configured.
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

/// What differs between two settings, as far as servers go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerChanges {
    pub added: Vec<ServerName>,
    pub removed: Vec<ServerName>,
    /// There before and after, and not the same.
    pub changed: Vec<ServerName>,
}

/// Where each server is defined; kept apart so that a moved line is no change of the server.
pub type Origins = BTreeMap<ServerName, Origin>;

impl Settings {
    /// What a reload has to do: everything that is not named stays as it is.
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
