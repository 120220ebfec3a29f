//! The official conformance suites, run against our client and our server.
//!
//! A *run* is one suite at one revision. To test a client, the suite starts a mock server per
//! scenario and runs the client against it; a server is called by the suite itself. The suite
//! writes its checks to a file, which [`verdict`] judges more strictly than the suite does.

mod report;
mod server;
mod suite;
mod verdict;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

pub(crate) use report::Report;
pub(crate) use server::{SERVER_EXAMPLE, ServerProcess};
pub(crate) use suite::Suite;
pub(crate) use verdict::Verdict;

use crate::peers::{Peers, SUITE_CURRENT, SUITE_STABLE};
use crate::workspace::Workspace;

/// Suite and revision of every run.
const RUNS: [(&str, &str); 3] =
    [(SUITE_CURRENT, "2025-11-25"), (SUITE_CURRENT, "2026-07-28"), (SUITE_STABLE, "2025-11-25")];
/// The revision that the extensions belong to.
const MODERN: &str = "2026-07-28";
/// Prefix of the scenarios with an authorization server.
const AUTHORIZATION: &str = "auth/";
/// Client scenarios of extensions that we support, and of servers from before RFC 9728. The suite
/// lists them for no revision.
const CLIENT_EXTENSIONS: [&str; 5] = [
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/enterprise-managed-authorization",
    "auth/2025-03-26-oauth-metadata-backcompat",
    "auth/2025-03-26-oauth-endpoint-fallback",
];
pub(crate) const EXAMPLE: &str = "conformance-client";
/// Prefix of the scenarios of the tasks extension; one of them never tests anything.
const TASKS: &str = "tasks-";
const NEVER_TESTS: &str = "tasks-status-notifications";

/// The program under test.
#[derive(Debug)]
pub(crate) enum Subject {
    Client(Client),
    Server(ServerProcess),
}

impl Subject {
    fn side(&self) -> &'static str {
        match self {
            Self::Client(_) => "client",
            Self::Server(_) => "server",
        }
    }

    fn limit(&self) -> Duration {
        match self {
            Self::Client(client) => client.limit,
            Self::Server(_) => LIMIT,
        }
    }
}

/// The client that the suites run; they append the mock server's URL.
#[derive(Debug)]
pub(crate) struct Client {
    /// The suites split it at spaces, so it must not need quoting.
    pub(crate) command: String,
    pub(crate) folder: PathBuf,
    pub(crate) limit: Duration,
}

/// Default timeout of the client for one scenario.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

impl Client {
    /// The example of this workspace. It runs from its own folder, because an absolute path may
    /// contain spaces.
    pub(crate) fn example(workspace: &Workspace) -> Result<Self> {
        let path = workspace.example(EXAMPLE);
        let folder = path.parent().context("an example lies in a folder")?.to_owned();
        let name = path.file_name().context("an example has a name")?.to_string_lossy().into_owned();
        Ok(Self { command: format!("./{name}"), folder, limit: LIMIT })
    }
}

/// Runs the client scenarios of every suite, or only those named in `only`. They run one after
/// another, because the suites measure time.
pub(crate) fn run_client(
    workspace: &Workspace,
    peers: &Peers,
    client: Client,
    only: &[String],
) -> Result<Vec<Report>> {
    let mut planned = Vec::new();
    for (version, revision) in RUNS {
        let suite = Suite::new(peers, hook(workspace), version, revision)?;
        let scenarios = suite.scenarios("--client")?;
        planned.push((suite, scenarios));
    }
    let suite = Suite::new(peers, hook(workspace), SUITE_CURRENT, RUNS[0].1)?;
    planned.push((suite, CLIENT_EXTENSIONS.map(str::to_owned).to_vec()));
    keep_only(&mut planned, only)?;
    let subject = Subject::Client(client);
    planned.iter().map(|(suite, scenarios)| run_one(suite, scenarios, &subject, workspace)).collect()
}

/// Runs the server scenarios of every suite and of the tasks extension, each run on a new server.
pub(crate) fn run_server(workspace: &Workspace, peers: &Peers, only: &[String]) -> Result<Vec<Report>> {
    let mut planned = Vec::new();
    for (version, revision) in RUNS {
        let suite = Suite::new(peers, hook(workspace), version, revision)?;
        let scenarios = suite.scenarios("--server")?;
        planned.push((suite, scenarios));
    }
    let suite = Suite::new(peers, hook(workspace), SUITE_CURRENT, MODERN)?;
    let mut tasks = suite.extension_scenarios()?;
    tasks.retain(|name| name.starts_with(TASKS) && name != NEVER_TESTS);
    planned.push((suite, tasks));
    keep_only(&mut planned, only)?;
    let mut reports = Vec::new();
    for (suite, scenarios) in &planned {
        let subject = Subject::Server(ServerProcess::start(workspace)?);
        reports.push(run_one(suite, scenarios, &subject, workspace)?);
    }
    Ok(reports)
}

/// Number of attempts: scenarios that fail if a response is some hundred milliseconds late, as it
/// may be on a busy machine, are retried.
fn attempts(scenario: &str) -> u32 {
    match scenario {
        "sse-retry" | "server-sse-polling" | "server-stateless" => 3,
        _ => 1,
    }
}

/// Returns the server scenarios of the current suite at a revision, including the tasks extension
/// where the revision has it.
pub(crate) fn server_scenarios(
    workspace: &Workspace,
    peers: &Peers,
    revision: &'static str,
) -> Result<(Suite, Vec<String>)> {
    let suite = Suite::new(peers, hook(workspace), SUITE_CURRENT, revision)?;
    let mut scenarios = suite.scenarios("--server")?;
    if revision == MODERN {
        let mut tasks = suite.extension_scenarios()?;
        tasks.retain(|name| name.starts_with(TASKS) && name != NEVER_TESTS);
        scenarios.extend(tasks);
    }
    Ok((suite, scenarios))
}

/// Returns the client scenarios of the current suite at a revision, except those that need OAuth.
pub(crate) fn client_scenarios(
    workspace: &Workspace,
    peers: &Peers,
    revision: &'static str,
) -> Result<(Suite, Vec<String>)> {
    let suite = Suite::new(peers, hook(workspace), SUITE_CURRENT, revision)?;
    let mut scenarios = suite.scenarios("--client")?;
    scenarios.retain(|name| !name.starts_with(AUTHORIZATION));
    Ok((suite, scenarios))
}

/// Runs one scenario, and retries it if it measures time and failed.
pub(crate) fn try_scenario(
    suite: &Suite,
    scenario: &str,
    subject: &Subject,
    workspace: &Workspace,
) -> Result<Verdict> {
    let results = workspace.target().join("conformance");
    let mut verdict = suite.run(scenario, subject, &results)?;
    for _ in 1..attempts(scenario) {
        if verdict.passed() {
            break;
        }
        verdict = suite.run(scenario, subject, &results)?;
    }
    Ok(verdict)
}

fn is_client_extension(scenario: &str) -> bool {
    CLIENT_EXTENSIONS.contains(&scenario)
}

fn hook(workspace: &Workspace) -> PathBuf {
    workspace.root().join("crates/testkit/peers/loopback.cjs")
}

fn run_one(suite: &Suite, scenarios: &[String], subject: &Subject, workspace: &Workspace) -> Result<Report> {
    let mut report = Report::new(format!("{} {}", subject.side(), suite.label()));
    println!("\n{} {}", subject.side(), suite.label());
    for scenario in scenarios {
        report.add(scenario, &try_scenario(suite, scenario, subject, workspace)?);
    }
    println!("{}", report.closing_line());
    Ok(report)
}

fn keep_only(planned: &mut Vec<(Suite, Vec<String>)>, only: &[String]) -> Result<()> {
    if let Some((suite, _)) = planned.iter().find(|(_, scenarios)| scenarios.is_empty()) {
        bail!("{} lists no scenario; has its listing changed?", suite.label());
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
