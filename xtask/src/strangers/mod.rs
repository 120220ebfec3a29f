//! Published servers of other people: what they list directly must be what they list through the
//! bridge and the gateway.
//!
//! `servers.txt` pins them. Each is installed into its own folder of `target/strangers`, and its
//! lists, identity and capabilities are read with `trunkline list --json` in three ways. A server
//! that fails must fail with the same error in each of them.

mod flicker;
mod offer;
mod server;
mod table;
mod trial;

use std::path::Path;
use std::sync::Mutex;
use std::thread;

use anyhow::{Result, bail};

use crate::peers;
use crate::workspace::Workspace;

use server::Server;
use trial::{Outcome, Trial};

pub(crate) use flicker::{Extent, lint_repeatedly};
pub(crate) use table::Table;

/// The page with the results.
pub(crate) const PAGE: &str = "docs/strangers.md";

/// Servers that are tried concurrently. Each of them runs in up to three processes.
const AT_ONCE: usize = 2;

/// Tries the servers with these package names, or all of them.
pub(crate) fn run(workspace: &Workspace, only: &[String]) -> Result<Table> {
    let mut servers = server::all()?;
    if let Some(unknown) = only.iter().find(|name| !servers.iter().any(|server| server.package == **name)) {
        bail!("there is no server {unknown} in xtask/src/strangers/servers.txt");
    }
    servers.retain(|server| only.is_empty() || only.iter().any(|name| name == server.package));
    let outcomes = Mutex::new(Vec::new());
    let next = Mutex::new(servers.iter().enumerate());
    let (binary, root) = (workspace.binary(), workspace.target().join("strangers"));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let taken = next.lock().expect("no worker panics").next();
                    let Some((index, server)) = taken else { break };
                    let outcome = try_one(&binary, &root, server);
                    println!("{:<60} {}", server.to_string(), outcome.summary());
                    outcomes.lock().expect("no worker panics").push((index, outcome));
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().expect("no worker panics");
    outcomes.sort_by_key(|(index, _)| *index);
    Ok(Table::new(servers.into_iter().zip(outcomes.into_iter().map(|(_, outcome)| outcome)).collect()))
}

fn try_one(binary: &Path, root: &Path, server: &Server) -> Outcome {
    let folder = server.folder();
    let outcome = peers::install_package(&root.join("installed"), &folder, server.registry, server.pin())
        .and_then(|programs| Trial::new(binary, &root.join("runs").join(&folder), server, &programs)?.run());
    outcome.unwrap_or_else(|error| Outcome::NotTried(format!("{error:#}")))
}
