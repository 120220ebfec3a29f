//! What `/status` tells about the catalog.

use super::Quarantined;
use serde::Serialize;

/// The catalog, server by server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CatalogReport {
    /// Counts the snapshots.
    pub generation: u64,
    pub servers: Vec<ServerReport>,
    pub views: Vec<String>,
}

/// What one server adds to the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerReport {
    pub server: String,
    /// Whether the server was ever heard.
    pub heard: bool,
    /// Whether it is away, and this is what it offered before.
    pub stale: bool,
    pub tools: usize,
    pub prompts: usize,
    pub resources: usize,
    pub templates: usize,
    pub quarantined: Vec<Kept>,
    pub hidden: Vec<Kept>,
}

/// One thing that is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kept {
    pub kind: &'static str,
    #[serde(flatten)]
    pub what: Quarantined,
}
