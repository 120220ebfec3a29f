//! Checks which of our crates depend on which; dependencies point down only.

use crate::workspace::metadata;

/// The workspace crates that a crate may have as normal dependencies.
enum May {
    Use(&'static [&'static str]),
    UseAllBut(&'static [&'static str]),
}

const LAYERS: &[(&str, May)] = &[
    ("trunkline", May::UseAllBut(&["testkit", "xtask", "bench"])),
    ("testkit", May::UseAllBut(&["trunkline", "xtask", "bench"])),
    ("serve", May::Use(&["auth", "resilience", "http1", "store", "transport", "protocol"])),
    ("client", May::Use(&["auth", "process", "resilience", "transport", "protocol"])),
    // Probes read and write raw frames: they look for faults that a client would repair or hide.
    (
        "lint",
        May::Use(&["client", "config", "lock", "process", "schema", "secrets", "transport", "protocol"]),
    ),
    ("doctor", May::Use(&["client", "config", "oauth", "process", "secrets", "transport", "protocol"])),
    ("gateway", May::Use(&["lock", "resilience", "schema", "search", "secrets", "store", "protocol"])),
    ("packs", May::Use(&["documents", "resilience", "store", "toolbox", "process", "secrets", "protocol"])),
    ("toolbox", May::Use(&["resilience", "schema", "protocol"])),
    ("config", May::Use(&["secrets", "protocol"])),
    ("transport", May::Use(&["process", "resilience", "http1", "protocol"])),
    ("http1", May::Use(&["resilience"])),
    ("auth", May::Use(&["resilience"])),
    ("oauth", May::Use(&["resilience", "http1", "transport"])),
    // Clocks, timeouts and counters without any MCP, shared by every crate that waits for a peer.
    ("resilience", May::Use(&[])),
    ("process", May::Use(&["resilience"])),
    // Pure functions from bytes to documents and text; the caller runs them in a child process.
    ("documents", May::Use(&[])),
    ("lock", May::Use(&[])),
    ("schema", May::Use(&[])),
    ("search", May::Use(&[])),
    ("store", May::Use(&[])),
    ("secrets", May::Use(&[])),
    ("protocol", May::Use(&[])),
    ("xtask", May::Use(&[])),
    ("bench", May::Use(&["auth", "client", "gateway", "http1", "serve", "toolbox", "transport", "protocol"])),
];

#[test]
fn dependencies_point_down_only() {
    let metadata = metadata().unwrap();
    let ours: Vec<&str> = metadata.packages.iter().map(|package| short(&package.name)).collect();
    let mut wrong = Vec::new();
    for package in &metadata.packages {
        let name = short(&package.name);
        let Some((_, may)) = LAYERS.iter().find(|(layer, _)| *layer == name) else {
            wrong.push(format!("{name} has no line in LAYERS"));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|dependency| dependency.kind.is_none()) {
            let below = short(&dependency.name);
            if ours.contains(&below) && !may.name(below) {
                wrong.push(format!("{name} must not depend on {below}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

impl May {
    fn name(&self, other: &str) -> bool {
        match self {
            Self::Use(allowed) => allowed.contains(&other),
            Self::UseAllBut(forbidden) => !forbidden.contains(&other),
        }
    }
}

fn short(package: &str) -> &str {
    package.strip_prefix("trunkline-").unwrap_or(package)
}
