//! The official conformance suites, run against our client.
//!
//! A *run* is one suite at one revision. The suite starts a mock server per scenario and runs the client against it;
//! it then leaves its checks in a file, which [`verdict`] judges more strictly than the suite does.

mod report;
mod suite;
mod verdict;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

pub(crate) use report::Report;
use suite::Suite;

use crate::peers::{Peers, SUITE_CURRENT, SUITE_STABLE};
use crate::workspace::Workspace;

/// Suite and revision of every run.
const RUNS: [(&str, &str); 3] =
    [(SUITE_CURRENT, "2025-11-25"), (SUITE_CURRENT, "2026-07-28"), (SUITE_STABLE, "2025-11-25")];
/// Scenarios with this beginning wait for OAuth in the client.
const LEFT_OUT: &str = "auth/";
pub(crate) const EXAMPLE: &str = "conformance-client";

/// What the suites run; they append the mock server's URL.
#[derive(Debug)]
pub(crate) struct Client {
    /// Cut at blanks by the suites, so it must not need quoting.
    pub(crate) command: String,
    pub(crate) folder: PathBuf,
    pub(crate) limit: Duration,
}

/// The client's time for one scenario unless told otherwise.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

impl Client {
    /// The example built from this workspace. It is called from its own folder, because a path may have blanks.
    pub(crate) fn example(workspace: &Workspace) -> Result<Self> {
        let path = workspace.example(EXAMPLE);
        let folder = path.parent().context("an example lies in a folder")?.to_owned();
        let name = path.file_name().context("an example has a name")?.to_string_lossy().into_owned();
        Ok(Self { command: format!("./{name}"), folder, limit: LIMIT })
    }
}

/// Runs the client scenarios of every suite, or of these only those named in `only`, one after the other, for the
/// suites measure times.
pub(crate) fn run(
    workspace: &Workspace,
    peers: &Peers,
    client: &Client,
    only: &[String],
) -> Result<Vec<Report>> {
    let results = workspace.target().join("conformance");
    let hook = workspace.root().join("crates/testkit/peers/loopback.cjs");
    let mut planned = Vec::new();
    for (version, revision) in RUNS {
        let suite = Suite::new(peers, hook.clone(), version, revision)?;
        let mut scenarios = suite.client_scenarios()?;
        scenarios.retain(|name| !name.starts_with(LEFT_OUT));
        planned.push((suite, scenarios));
    }
    keep_only(&mut planned, only)?;
    planned.iter().map(|(suite, scenarios)| run_one(suite, scenarios, client, &results)).collect()
}

fn run_one(suite: &Suite, scenarios: &[String], client: &Client, results: &Path) -> Result<Report> {
    let mut report = Report::new(suite.label());
    println!("\n{}", suite.label());
    for scenario in scenarios {
        let verdict = suite.run_client(scenario, client, results)?;
        report.add(scenario, &verdict);
    }
    println!("{}", report.closing_line());
    Ok(report)
}

fn keep_only(planned: &mut Vec<(Suite, Vec<String>)>, only: &[String]) -> Result<()> {
    if let Some((suite, _)) = planned.iter().find(|(_, scenarios)| scenarios.is_empty()) {
        bail!("{} lists no client scenario; has its listing changed?", suite.label());
    }
    if only.is_empty() {
        return Ok(());
    }
    for name in only {
        if !planned.iter().any(|(_, scenarios)| scenarios.contains(name)) {
            let mut known: Vec<&String> = planned.iter().flat_map(|(_, scenarios)| scenarios).collect();
            known.sort_unstable();
            known.dedup();
            bail!("no suite has a scenario {name}; there are {known:?}");
        }
    }
    for (_, scenarios) in planned.iter_mut() {
        scenarios.retain(|name| only.contains(name));
    }
    planned.retain(|(_, scenarios)| !scenarios.is_empty());
    Ok(())
}
