//! The transparency matrix: the official suites through `trunkline bridge` to a server of either
//! era.
//!
//! A *cell* is the suite's revision, the server's era, and the transport between the bridge and
//! the server. Within one era everything must pass. Between the eras, all features that both have
//! must pass; each other scenario has a reason in [`impossible`].

mod bridge;
mod impossible;
mod table;

use anyhow::{Result, bail};

use crate::conformance::{self, Client, LIMIT, Subject};
use crate::peers::Peers;
use crate::workspace::Workspace;

pub(crate) use bridge::{Fixture, via};
pub(crate) use table::Table;
use table::{Outcome, Row};

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// Selection of cells, scenarios and servers.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Names of cells; all when empty.
    pub(crate) cells: Vec<String>,
    /// Names of scenarios; all when empty.
    pub(crate) only: Vec<String>,
    /// Servers that replace our own.
    pub(crate) fixtures: Vec<Fixture>,
}

/// One cell of the matrix.
#[derive(Debug, Clone, Copy)]
struct Cell {
    name: &'static str,
    /// The revision that the suite speaks.
    client: &'static str,
    /// The era that the server speaks.
    server: &'static str,
    transport: &'static str,
}

const fn cell(
    name: &'static str,
    client: &'static str,
    server: &'static str,
    transport: &'static str,
) -> Cell {
    Cell { name, client, server, transport }
}

const CELLS: [Cell; 10] = [
    cell("legacy-legacy-http", LEGACY, "legacy", "http"),
    cell("legacy-legacy-stdio", LEGACY, "legacy", "stdio"),
    cell("legacy-legacy-sse", LEGACY, "legacy", "sse"),
    cell("modern-modern-http", MODERN, "modern", "http"),
    cell("modern-modern-stdio", MODERN, "modern", "stdio"),
    cell("modern-legacy-http", MODERN, "legacy", "http"),
    cell("modern-legacy-stdio", MODERN, "legacy", "stdio"),
    cell("modern-legacy-sse", MODERN, "legacy", "sse"),
    cell("legacy-modern-http", LEGACY, "modern", "http"),
    cell("legacy-modern-stdio", LEGACY, "modern", "stdio"),
];

/// The client suite, with the bridge between our client and the suite's servers.
const CLIENT_CELLS: [(&str, &str); 2] = [("client-legacy", LEGACY), ("client-modern", MODERN)];

/// Cells that `cargo xtask test` runs: each direction of the bridge once, each transport once, and
/// the client suites.
pub(crate) const BOUNDED: [&str; 4] =
    ["modern-legacy-stdio", "legacy-modern-http", "client-legacy", "client-modern"];

pub(crate) fn run(workspace: &Workspace, peers: &Peers, plan: &Plan) -> Result<Table> {
    let known = CELLS.iter().map(|cell| cell.name).chain(CLIENT_CELLS.iter().map(|(name, _)| *name));
    let known: Vec<&str> = known.collect();
    if let Some(unknown) = plan.cells.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("there is no cell {unknown}; there are {known:?}");
    }
    let wanted = |name: &str| plan.cells.is_empty() || plan.cells.iter().any(|cell| cell == name);
    let mut table = Table::default();
    for cell in CELLS.iter().filter(|cell| wanted(cell.name)) {
        table.rows.push(run_cell(workspace, peers, plan, cell)?);
    }
    for (name, revision) in CLIENT_CELLS.iter().filter(|(name, _)| wanted(name)) {
        table.rows.push(run_client(workspace, peers, plan, name, revision)?);
    }
    Ok(table)
}

fn run_cell(workspace: &Workspace, peers: &Peers, plan: &Plan, cell: &Cell) -> Result<Row> {
    let (suite, scenarios) = conformance::server_scenarios(workspace, peers, cell.client)?;
    let fixture = Fixture::of(&plan.fixtures, cell.server, cell.transport, workspace)?;
    let subject = Subject::Server(bridge::start(workspace, &fixture)?);
    println!("\n{}: client {}, server {} over {}", cell.name, cell.client, cell.server, cell.transport);
    let mut row = Row::new(cell.name, cell.client, cell.server, cell.transport);
    for scenario in scenarios.iter().filter(|name| plan.only.is_empty() || plan.only.contains(name)) {
        let verdict = conformance::try_scenario(&suite, scenario, &subject, workspace)?;
        let reason = impossible::reason(cell.client, cell.server, scenario);
        row.add(scenario, Outcome::of(&verdict, reason));
    }
    drop(fixture);
    Ok(row)
}

fn run_client(
    workspace: &Workspace,
    peers: &Peers,
    plan: &Plan,
    name: &'static str,
    revision: &'static str,
) -> Result<Row> {
    let (suite, scenarios) = conformance::client_scenarios(workspace, peers, revision)?;
    let client = Client { limit: LIMIT * 2, ..via_client(workspace) };
    let subject = Subject::Client(client);
    println!("\n{name}: our client, the bridge, the suite's servers of {revision}");
    let mut row = Row::new(name, revision, "the suite's", "http");
    for scenario in scenarios.iter().filter(|name| plan.only.is_empty() || plan.only.contains(name)) {
        let verdict = conformance::try_scenario(&suite, scenario, &subject, workspace)?;
        row.add(scenario, Outcome::of(&verdict, None));
    }
    Ok(row)
}

/// This program itself, which the suite runs in place of a client. It is found by its path in the
/// target folder, because a build may have replaced the running file.
fn via_client(workspace: &Workspace) -> Client {
    let folder = workspace.binary().parent().map(std::path::Path::to_owned).unwrap_or_default();
    Client { command: format!("./xtask{} via", std::env::consts::EXE_SUFFIX), folder, limit: LIMIT }
}
