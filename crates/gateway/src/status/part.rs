//! The status page for callers that may not operate the gateway: the state of the servers that they
//! may use. Errors, paths, sessions, counts of calls and the names of other servers are left out.

use super::{ConfigStatus, GatewayStatus, StatusPage};
use crate::{
    catalog::CatalogReport,
    upstream::{BreakerStatus, Health, State, Status},
};
use serde::Serialize;

/// The content of `withheld`.
const WITHHELD: &str =
    "errors, paths, sessions, calls and other servers; they need a role with `\"operate\": true`";

/// The part of a [`StatusPage`] that does not need the permission to operate.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct PartialPage {
    gateway: GatewayStatus,
    config: ConfigStatus,
    upstreams: Vec<UpstreamState>,
    catalog: CatalogReport,
    /// The missing parts and the callers who may see them, for people.
    withheld: &'static str,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct UpstreamState {
    name: String,
    state: State,
    health: Health,
    since_at: u64,
    for_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<&'static str>,
    breaker: BreakerStatus,
    stale: bool,
}

impl StatusPage {
    /// The page as JSON: the whole page, or with `visible` the part for a caller to whom only
    /// these servers and views are known.
    pub fn to_json(self, visible: Option<CatalogReport>) -> serde_json::Value {
        let json = match visible {
            None => serde_json::to_value(self),
            Some(visible) => serde_json::to_value(self.part(visible)),
        };
        json.expect("a status page has only plain values")
    }

    fn part(self, visible: CatalogReport) -> PartialPage {
        let Self { gateway, config, mut upstreams, .. } = self;
        upstreams.retain(|status| visible.servers.iter().any(|known| known.server == status.name));
        let ConfigStatus { generation, loaded_at, .. } = config;
        PartialPage {
            gateway: GatewayStatus { processes: None, landlock: None, ..gateway },
            config: ConfigStatus { generation, loaded_at, ..ConfigStatus::default() },
            upstreams: upstreams.into_iter().map(UpstreamState::from).collect(),
            catalog: visible,
            withheld: WITHHELD,
        }
    }
}

impl From<Status> for UpstreamState {
    fn from(status: Status) -> Self {
        let Status { name, state, health, since_at, for_ms, revision, breaker, stale, .. } = status;
        Self { name, state, health, since_at, for_ms, revision, breaker, stale }
    }
}
