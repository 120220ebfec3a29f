//! The catalog's part of `/status`.

use super::Quarantined;
use crate::disclosure::ViewCost;
use serde::Serialize;

/// The catalog, server by server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CatalogReport {
    /// Number of the snapshot.
    pub generation: u64,
    pub servers: Vec<ServerReport>,
    pub views: Vec<String>,
    /// The cost of each view's tools for a model.
    pub costs: Vec<ViewCost>,
}

impl CatalogReport {
    /// The report of a single server with this many tools and no upstreams.
    pub fn of_tools(name: &str, tools: usize) -> Self {
        let own = ServerReport {
            server: name.to_owned(),
            heard: true,
            stale: false,
            tools,
            tokens: 0,
            prompts: 0,
            resources: 0,
            templates: 0,
            quarantined: Vec::new(),
            hidden: Vec::new(),
            drifted: Vec::new(),
        };
        Self { generation: 1, servers: vec![own], views: Vec::new(), costs: Vec::new() }
    }
}

/// The part of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerReport {
    pub server: String,
    /// True if the server's offer was ever read.
    pub heard: bool,
    /// True if the server is not connected and this is its previous offer.
    pub stale: bool,
    pub tools: usize,
    /// Estimated tokens of its tools, if they are listed whole.
    pub tokens: usize,
    pub prompts: usize,
    pub resources: usize,
    pub templates: usize,
    pub quarantined: Vec<Kept>,
    pub hidden: Vec<Kept>,
    /// Definitions that differ from the lock file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drifted: Vec<Kept>,
}

/// One item that is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kept {
    pub kind: &'static str,
    #[serde(flatten)]
    pub what: Quarantined,
}
