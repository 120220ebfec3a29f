//! `Suite`: one version of the conformance suite at one revision, a process per scenario.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::Subject;
use super::verdict::{Evidence, Verdict, judge};
use crate::peers::Peers;
use crate::process::{Ending, Scope, run_bounded, shown};

/// Time beyond the client's timeout that the suite may use to start and to clean up.
const GRACE: Duration = Duration::from_secs(30);
/// The suite prints this if the client failed, even where it tolerates the failure.
const CLIENT_EXITED: &str = "Client exited with code ";
const CLIENT_OUT_OF_TIME: &str = "Client timed out after ";
const CHECKS: &str = "checks.json";

#[derive(Debug)]
pub(crate) struct Suite {
    node: PathBuf,
    entry: PathBuf,
    hook: PathBuf,
    version: &'static str,
    revision: &'static str,
}

impl Suite {
    pub(super) fn new(
        peers: &Peers,
        hook: PathBuf,
        version: &'static str,
        revision: &'static str,
    ) -> Result<Self> {
        Ok(Self { node: peers.node()?, entry: peers.suite(version), hook, version, revision })
    }

    pub(super) fn label(&self) -> String {
        format!("{}@{}", self.version, self.revision)
    }

    /// Returns the names of all scenarios for one side at the revision, in the order of the suite.
    pub(super) fn scenarios(&self, side: &str) -> Result<Vec<String>> {
        self.list(&[side, "--spec-version", self.revision])
    }

    /// Returns the server scenarios of extensions, which the suite lists only without a revision.
    pub(super) fn extension_scenarios(&self) -> Result<Vec<String>> {
        self.list(&["--server"])
    }

    fn list(&self, which: &[&str]) -> Result<Vec<String>> {
        let mut command = Command::new(&self.node);
        command.arg(&self.entry).arg("list").args(which);
        let shown = shown(&command);
        let output = command.output().with_context(|| format!("`{shown}` could not be started"))?;
        if !output.status.success() {
            bail!("`{shown}` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(listed(&String::from_utf8_lossy(&output.stdout)))
    }

    /// Runs one scenario and judges it; its traces are kept in `results`.
    pub(super) fn run(&self, scenario: &str, subject: &Subject, results: &Path) -> Result<Verdict> {
        let folder = results.join(subject.side()).join(self.label()).join(scenario.replace('/', "__"));
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        let log = folder.join("log.txt");

        let mut command = Command::new(&self.node);
        command.arg("--require").arg(&self.hook).arg(&self.entry).arg(subject.side());
        command.args(["--scenario", scenario, "--spec-version", self.revision]);
        match subject {
            Subject::Client(client) => {
                command.args(["--command", &client.command]);
                command
                    .args(["--timeout", &client.limit.as_millis().to_string()])
                    .current_dir(&client.folder);
                command.args(super::is_client_extension(scenario).then_some("--force"));
            }
            Subject::Server(server) => {
                command.args(["--url", &server.url]).current_dir(&folder);
                // Without `--force` the suite does not run an extension's scenario at a revision.
                command.args(scenario.starts_with(super::TASKS).then_some("--force"));
            }
        }
        command.arg("-o").arg(&folder);
        let ending = run_bounded(&mut command, &log, subject.limit() + GRACE, Scope::Group)?;

        let log = fs::read(&log)?;
        Ok(judge(&Evidence {
            checks: find(&folder).map(fs::read_to_string).transpose()?,
            suite_succeeded: matches!(ending, Ending::Exited(status) if status.success()),
            complaint: complaint(&String::from_utf8_lossy(&log)),
        }))
    }
}

/// Parses the scenario names of a listing; the second heading starts a summary of the same names.
fn listed(text: &str) -> Vec<String> {
    text.lines()
        .take_while(|line| !line.starts_with("Run and reported"))
        .filter_map(|line| line.trim_start().strip_prefix("- "))
        .filter_map(|rest| rest.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

fn complaint(log: &str) -> Option<String> {
    let told = |line: &&str| line.starts_with(CLIENT_EXITED) || line.starts_with(CLIENT_OUT_OF_TIME);
    log.lines().find(told).map(str::to_owned)
}

/// Finds the checks file; the suite puts it into a folder named for the scenario and the time.
fn find(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?;
    entries.filter_map(Result::ok).find_map(|entry| {
        let path = entry.path();
        if path.is_dir() { find(&path) } else { path.ends_with(CHECKS).then_some(path) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_a_listing() {
        let text = "Client scenarios (test against a client):\n  - initialize [2025-06-18]\n  - auth/pre-registration [2025-11-25]\n\nRun and reported, not scored:\n  - later\n";
        assert_eq!(listed(text), ["initialize", "auth/pre-registration"]);
    }

    #[test]
    fn a_bad_end_of_the_client_is_found_in_the_log() {
        let log = "Executing client: ./c http://localhost:1\n\nClient exited with code 7\n";
        assert_eq!(complaint(log).as_deref(), Some("Client exited with code 7"));
        assert_eq!(complaint("Executing client: ./c\n"), None);
    }

    #[test]
    fn the_checks_are_found_in_a_nested_folder() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(find(folder.path()), None);
        let nested = folder.path().join("auth/x-2026");
        fs::create_dir_all(&nested).unwrap();
        fs::write(folder.path().join("log.txt"), "").unwrap();
        fs::write(nested.join(CHECKS), "[]").unwrap();
        assert_eq!(find(folder.path()), Some(nested.join(CHECKS)));
    }
}
