//! Lints published servers again and again: an outcome that changes between two runs is a fault of
//! the linter, or of a server that changes by itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::PAGE;
use super::server::{self, Server};
use crate::peers;
use crate::process::{self, Ending};
use crate::workspace::Workspace;

/// Timeout of one run of the linter.
const LIMIT: Duration = Duration::from_mins(10);

/// The servers and rounds of one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) servers: usize,
    pub(crate) runs: usize,
}

/// The outcome of each rule, with the fingerprints of its findings.
type Outcomes = BTreeMap<String, String>;

#[derive(Debug)]
struct Linted {
    server: Server,
    folder: PathBuf,
    command: Vec<String>,
    first: Option<Outcomes>,
    changes: Vec<String>,
}

/// Lints the first servers that can be listed, one process at a time, in rounds. Returns a line for
/// each change between two runs of the same server.
pub(crate) fn lint_repeatedly(workspace: &Workspace, only: &[String], extent: Extent) -> Result<Vec<String>> {
    let root = workspace.target().join("strangers");
    let page = fs::read_to_string(workspace.root().join(PAGE))?;
    let mut chosen = choose(&root, &page, only)?;
    chosen.truncate(extent.servers);
    for linted in &mut chosen {
        linted.install(&root)?;
    }
    let binary = root.join("trunkline");
    // A copy, because a build would replace the binary during the rounds.
    fs::copy(workspace.binary(), &binary).context("the binary could not be copied; build it first")?;
    for run in 1..=extent.runs {
        for linted in &mut chosen {
            let report = linted.lint(&binary, run)?;
            linted.compare(run, report);
        }
        println!("round {run} of {}: {} changes so far", extent.runs, all_changes(&chosen).len());
    }
    for linted in &chosen {
        println!("{:<60} {}", linted.server.to_string(), linted.summary());
    }
    Ok(all_changes(&chosen))
}

/// The servers that the page says can be listed: the others cannot be linted either.
fn choose(root: &Path, page: &str, only: &[String]) -> Result<Vec<Linted>> {
    let lists = |server: &Server| {
        let row = page.lines().find(|line| line.starts_with(&format!("| {server} |")));
        row.is_some_and(|row| row.contains("| lists |"))
    };
    let wanted = |server: &Server| only.is_empty() || only.iter().any(|name| name == server.package);
    let servers = server::all()?.into_iter().filter(|server| lists(server) && wanted(server));
    let folder = |server: &Server| root.join("linted").join(server.folder());
    Ok(servers
        .map(|server| Linted {
            folder: folder(&server),
            server,
            command: Vec::new(),
            first: None,
            changes: Vec::new(),
        })
        .collect())
}

fn all_changes(chosen: &[Linted]) -> Vec<String> {
    chosen.iter().flat_map(|linted| &linted.changes).cloned().collect()
}

impl Linted {
    fn install(&mut self, root: &Path) -> Result<()> {
        fs::create_dir_all(&self.folder)?;
        let (name, server) = (self.server.folder(), &self.server);
        let programs = peers::install_package(&root.join("installed"), &name, server.registry, server.pin())?;
        self.command = server.command(&programs, &self.folder);
        Ok(())
    }

    fn lint(&self, binary: &Path, run: usize) -> Result<Outcomes> {
        let mut lint = Command::new(binary);
        lint.args(["--json", "lint", "--fail-on", "never", "--cwd"]).arg(&self.folder);
        for (name, value) in self.server.environment(&self.folder) {
            lint.arg("--env").arg(format!("{name}={value}"));
        }
        lint.arg("--").args(&self.command).env("HOME", &self.folder);
        let file = |ending: &str| self.folder.join(format!("run-{run}.{ending}"));
        match process::run_apart(&mut lint, &file("json"), &file("err"), LIMIT)? {
            Ending::Exited(_) => outcomes(&fs::read_to_string(file("json"))?)
                .with_context(|| format!("{}: see {}", self.server, file("err").display())),
            Ending::OutOfTime => bail!("{}: run {run} did not end", self.server),
        }
    }

    fn compare(&mut self, run: usize, report: Outcomes) {
        let Some(first) = &self.first else {
            self.first = Some(report);
            return;
        };
        let none = String::from("not reported");
        let rules = first.keys().chain(report.keys().filter(|rule| !first.contains_key(*rule)));
        for rule in rules {
            let (before, now) = (first.get(rule).unwrap_or(&none), report.get(rule).unwrap_or(&none));
            if before != now {
                let change = format!("{} run {run}: {rule}: {before} became {now}", self.server);
                println!("{change}");
                self.changes.push(change);
            }
        }
    }

    /// The rules with findings, so that a person can judge them.
    fn summary(&self) -> String {
        let first = self.first.iter().flatten();
        let found: Vec<&str> = first
            .filter(|(_, outcome)| outcome.starts_with("finding"))
            .map(|(rule, _)| rule.as_str())
            .collect();
        format!("{} changes; findings: {}", self.changes.len(), found.join(", "))
    }
}

/// Reads a report. The reason of an outcome counts, the text of a finding does not: it may contain
/// a time or an id.
fn outcomes(text: &str) -> Result<Outcomes> {
    let report: Value = serde_json::from_str(text).context("the report is not JSON")?;
    let rules = report["targets"][0]["rules"].as_array().context("the report has no rules")?;
    let mut outcomes = Outcomes::new();
    for rule in rules {
        let word = |member: &str| rule[member].as_str().unwrap_or_default();
        let findings = rule["findings"].as_array().into_iter().flatten();
        let findings: Vec<&str> = findings.filter_map(|finding| finding["fingerprint"].as_str()).collect();
        let outcome = [word("outcome"), word("why"), &findings.join(" ")].join(" ");
        outcomes.insert(word("rule").to_owned(), outcome.trim().to_owned());
    }
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_a_reason_and_a_finding_can_change() {
        let report = |rule: &str| outcomes(&format!(r#"{{"targets":[{{"rules":[{rule}]}}]}}"#)).unwrap();
        let passed = report(r#"{"rule":"a","outcome":"passed"}"#);
        let unsure = report(r#"{"rule":"a","outcome":"not-verified","why":"no answer"}"#);
        let found = report(r#"{"rule":"a","outcome":"finding","findings":[{"fingerprint":"x"}]}"#);
        assert_eq!(
            [&passed["a"], &unsure["a"], &found["a"]],
            ["passed", "not-verified no answer", "finding  x"]
        );
        assert!(outcomes("{}").is_err());
    }
}
