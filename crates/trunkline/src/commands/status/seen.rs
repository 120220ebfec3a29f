//! The part of the status page that is shown. Missing and unknown members are accepted, because
//! the gateway may be of another version.

use crate::failure::Failure;
use serde::Deserialize;
use trunkline_protocol::{Fault, FaultKind, Raw};

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Seen {
    pub(super) gateway: Gateway,
    pub(super) config: Config,
    pub(super) upstreams: Vec<Upstream>,
    pub(super) catalog: Catalog,
    /// The parts that the gateway does not show to this caller.
    pub(super) withheld: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Gateway {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) uptime_ms: u64,
    pub(super) processes: Option<String>,
    pub(super) landlock: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Config {
    pub(super) generation: u64,
    pub(super) last_error: Option<Error>,
    pub(super) waiting_for_approval: Option<String>,
    pub(super) waiting_servers: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Catalog {
    pub(super) servers: Vec<Server>,
    pub(super) views: Vec<String>,
    pub(super) costs: Vec<Cost>,
}

/// The cost of one view's tools.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Cost {
    pub(super) view: String,
    pub(super) tools: u64,
    pub(super) listed_tokens: u64,
    pub(super) all_tokens: u64,
    pub(super) budget: Option<u64>,
}

/// The items of one server that this caller may use.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Server {
    pub(super) server: String,
    pub(super) tools: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Upstream {
    pub(super) name: String,
    pub(super) state: String,
    pub(super) health: Option<String>,
    /// Absent if the server was never connected.
    revision: Option<String>,
    pub(super) for_ms: u64,
    pub(super) last_error: Option<Error>,
    pub(super) next_try_ms: Option<u64>,
    pub(super) restarts: u64,
    pub(super) breaker: String,
    pub(super) calls: Calls,
    pub(super) latency: Option<Latency>,
    pub(super) stale: bool,
    pub(super) by_command: bool,
    pub(super) lists: Vec<List>,
    pub(super) quarantined: Vec<Quarantined>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Error {
    pub(super) code: Option<String>,
    pub(super) text: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Calls {
    pub(super) in_flight: u64,
    pub(super) total: u64,
    pub(super) failed: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Latency {
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct List {
    pub(super) kind: String,
    pub(super) items: Option<u64>,
    pub(super) warning: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Quarantined {
    pub(super) kind: String,
    pub(super) name: Option<String>,
    pub(super) reason: String,
}

/// Health of an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    /// Can be called; it may have to be started first.
    Well,
    /// Is being started or connected.
    Coming,
    Down,
}

impl Seen {
    pub(super) fn read(page: &Raw) -> Result<Self, Failure> {
        let is_ours = page.member("upstreams").is_some() && page.member("gateway").is_some();
        let read = page.decode().ok().filter(|_| is_ours);
        read.ok_or_else(|| {
            Failure::connecting(Fault::new(FaultKind::BadAnswer, "the answer is not the status of a gateway"))
        })
    }

    /// The number of tools of a server; of those that this caller may use if others are withheld.
    pub(super) fn tools(&self, upstream: &Upstream) -> Option<u64> {
        if self.withheld.is_none() {
            return upstream.items("tools");
        }
        upstream.revision.as_ref()?;
        let known = self.catalog.servers.iter().find(|known| known.server == upstream.name);
        known.map(|known| known.tools)
    }

    pub(super) fn is_well(&self) -> bool {
        self.upstreams.iter().all(|upstream| upstream.health() == Health::Well)
    }
}

impl Upstream {
    pub(super) fn health(&self) -> Health {
        match self.health.as_deref() {
            Some("up") => return Health::Well,
            Some("starting") => return Health::Coming,
            Some(_) => return Health::Down,
            // Of an older gateway.
            None => {}
        }
        match (self.state.as_str(), self.breaker.as_str()) {
            (_, "open") => Health::Down,
            ("ready" | "idle", _) => Health::Well,
            ("connecting", _) => Health::Coming,
            _ => Health::Down,
        }
    }

    /// The number of items, if it is known.
    fn items(&self, kind: &str) -> Option<u64> {
        self.lists.iter().find(|list| list.kind == kind)?.items
    }
}
