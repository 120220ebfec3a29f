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

impl CatalogReport {
    /// The report of something that offers so many tools itself, and has no servers.
    pub fn of_tools(name: &str, tools: usize) -> Self {
        let own = ServerReport {
            server: name.to_owned(),
            heard: true,
            stale: false,
            tools,
            prompts: 0,
            resources: 0,
            templates: 0,
            quarantined: Vec::new(),
            hidden: Vec::new(),
        };
        Self { generation: 1, servers: vec![own], views: Vec::new() }
    }
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
