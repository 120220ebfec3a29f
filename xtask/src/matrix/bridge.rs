//! The bridge as a process, and its upstream server.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::conformance::{EXAMPLE, SERVER_EXAMPLE, ServerProcess};
use crate::process;
use crate::workspace::Workspace;

/// An upstream server of the bridge.
#[derive(Debug)]
pub(crate) struct Fixture {
    /// Era and transport, such as `legacy-http`.
    kind: String,
    target: Target,
    /// Stopped when the fixture is dropped.
    _process: Option<ServerProcess>,
}

#[derive(Debug, Clone)]
enum Target {
    Url(String),
    Command(Vec<String>),
}

impl Fixture {
    /// Parses `legacy-http=http://…` or `modern-stdio=node server.mjs`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let Some((kind, target)) = text.split_once('=') else {
            bail!("--fixture {text} is not ERA-TRANSPORT=TARGET")
        };
        let target = if target.contains("://") {
            Target::Url(target.to_owned())
        } else {
            Target::Command(target.split_whitespace().map(str::to_owned).collect())
        };
        Ok(Self { kind: kind.to_owned(), target, _process: None })
    }

    /// Returns the given fixture for this era and transport, or our own server.
    pub(super) fn of(given: &[Self], era: &str, transport: &str, workspace: &Workspace) -> Result<Self> {
        let kind = format!("{era}-{transport}");
        if let Some(given) = given.iter().find(|fixture| fixture.kind == kind) {
            return Ok(Self { kind, target: given.target.clone(), _process: None });
        }
        if transport == "stdio" {
            let program = workspace.example(SERVER_EXAMPLE).to_string_lossy().into_owned();
            let words = [program.as_str(), "--stdio", "--era", era].map(str::to_owned);
            return Ok(Self { kind, target: Target::Command(words.into()), _process: None });
        }
        let process = ServerProcess::example(workspace, era)?;
        let url = if transport == "sse" { process.url.replace("/mcp", "/sse") } else { process.url.clone() };
        Ok(Self { kind, target: Target::Url(url), _process: Some(process) })
    }
}

/// Starts a bridge that listens on a free port.
pub(super) fn start(workspace: &Workspace, fixture: &Fixture) -> Result<ServerProcess> {
    let mut command = bridge(workspace);
    match &fixture.target {
        Target::Url(url) => command.arg(url),
        Target::Command(words) => command.arg("--").args(words),
    };
    ServerProcess::read(command, endpoint)
}

/// Runs our conformance client against a bridge whose upstream is the URL.
pub(crate) fn via(workspace: &Workspace, url: &str) -> Result<()> {
    let mut command = bridge(workspace);
    command.arg(url);
    let bridge = ServerProcess::read(command, endpoint).context("the bridge did not start")?;
    process::run(Command::new(workspace.example(EXAMPLE)).arg(&bridge.url))
}

fn bridge(workspace: &Workspace) -> Command {
    let mut command = Command::new(workspace.binary());
    command.args(["--json", "bridge", "--no-cache", "--listen", "127.0.0.1:0"]);
    command
}

fn endpoint(line: &str) -> Option<String> {
    let told: Value = serde_json::from_str(line).ok()?;
    told.get("endpoint")?.as_str().map(str::to_owned)
}
