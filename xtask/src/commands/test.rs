//! `cargo xtask test`: runs everything that must pass before a change is merged.

use std::env;
use std::process::Command;
use std::thread;

use anyhow::{Result, anyhow, bail};

use super::{fuzz, r#gen};
use crate::arguments::Arguments;
use crate::conformance::{self, Client, Report};
use crate::libraries;
use crate::matrix::{self, Plan};
use crate::peers::{self, Peers};
use crate::process;
use crate::summary::Summary;
use crate::workspace::Workspace;

/// Tests find the peers through this variable.
const PEERS: &str = "TRUNKLINE_PEERS";

const TEST_THREADS: &str = "RUST_TEST_THREADS";
/// Tests spend half of their time waiting for programs that they started.
const TESTS_PER_CORE: usize = 2;

/// Number of passed and failed tests of all kinds.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Tally {
    passed: usize,
    failed: usize,
}

pub(super) fn run(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    arguments.finish()?;
    let mut summary = Summary::default();
    let mut tally = Tally::default();
    let root = workspace.peers();
    // Download the peers while the compiler runs.
    let installing = thread::spawn(move || peers::install(&root));
    let mut installing = Some(installing);
    let mut join = || {
        let installing =
            installing.take().ok_or_else(|| anyhow!("the peers' installation was already joined"))?;
        installing.join().map_err(|_| anyhow!("the installation panicked"))?
    };
    let result = steps(workspace, &mut summary, &mut tally, &mut join);

    println!("\n{summary}");
    if let Err(error) = &result {
        // A failed step that is not a test counts as one failed test.
        tally.failed = tally.failed.max(1);
        println!("failed: {error:#}");
    }
    if let Some(installing) = installing {
        if !installing.is_finished() {
            println!("(test peers are still being installed; waiting, so that they are there next time)");
        }
        // The first failure is already reported; a failed installation shows again in the next
        // run.
        drop(installing.join());
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    result.map_err(|_| anyhow!("not everything passed"))
}

fn steps(
    workspace: &Workspace,
    summary: &mut Summary,
    tally: &mut Tally,
    installed: &mut dyn FnMut() -> Result<Peers>,
) -> Result<()> {
    let cargo = |arguments: &[&str]| process::run(&mut workspace.cargo(arguments));
    summary.step("cargo fmt", || cargo(&["fmt", "--all", "--check"]))?;
    summary.step("cargo clippy", || {
        cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
    })?;
    // Together with the tests: dev-dependencies change the enabled features, and a separate build
    // would compile everything twice.
    summary.step("cargo build", || cargo(&["build", "--workspace", "--bins", "--examples", "--tests"]))?;
    summary.step("generated pages", || r#gen::check(workspace))?;
    summary.step("fuzz targets compile", || fuzz::check(workspace))?;
    let peers = summary.step("test peers", installed)?;
    suites(workspace, &peers, summary, tally)
}

/// Runs every suite, also after one that failed: a run takes long, and a suite that was left out
/// may hide a second failure.
fn suites(workspace: &Workspace, peers: &Peers, summary: &mut Summary, tally: &mut Tally) -> Result<()> {
    let outcomes = [
        summary.step("cargo test", || {
            let mut command = workspace.cargo(&["test", "--workspace", "--no-fail-fast"]);
            if env::var_os(TEST_THREADS).is_none() {
                let cores = thread::available_parallelism()?.get();
                command.env(TEST_THREADS, (cores * TESTS_PER_CORE).to_string());
            }
            cargo_test(command.env(PEERS, workspace.peers()), tally)
        }),
        summary.step("client libraries", || {
            for counts in [libraries::typescript(workspace, peers), libraries::python(workspace)] {
                let counts = counts?;
                tally.passed += counts.passed;
                tally.failed += counts.failed;
            }
            Ok(())
        }),
        summary.step("conformance", || {
            let mut reports = conformance::run_client(workspace, peers, Client::example(workspace)?, &[])?;
            reports.extend(conformance::run_server(workspace, peers, &[])?);
            tally.passed += reports.iter().map(Report::passed).sum::<usize>();
            tally.failed += reports.iter().map(Report::failed).sum::<usize>();
            super::conformance::conclude(&reports)
        }),
        summary.step("transparency", || {
            let cells = matrix::BOUNDED.map(str::to_owned).to_vec();
            let table = matrix::run(workspace, peers, &Plan { cells, ..Plan::default() })?;
            println!("\n{}", table.summary());
            tally.passed += table.passed();
            tally.failed += table.failed();
            super::matrix::conclude(&table)
        }),
    ];
    let failures: Vec<_> = outcomes.into_iter().filter_map(Result::err).collect();
    if failures.is_empty() {
        return Ok(());
    }
    bail!("{}", failures.iter().map(|failure| format!("{failure:#}")).collect::<Vec<_>>().join("; "))
}

fn cargo_test(command: &mut Command, tally: &mut Tally) -> Result<()> {
    let before = *tally;
    let status = process::run_watching(command, |line| tally.read(line))?;
    let failed = tally.failed - before.failed;
    if failed > 0 {
        bail!("{failed} tests failed");
    }
    if !status.success() {
        bail!("`{}` failed ({status})", process::shown(command));
    }
    if *tally == before {
        bail!("cargo test ran no test");
    }
    Ok(())
}

impl Tally {
    /// Counts a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
    fn read(&mut self, line: &str) {
        let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for count in counts.split("; ") {
            match count.split_once(' ').map(|(number, word)| (number.parse::<usize>(), word)) {
                Some((Ok(number), "passed")) => self.passed += number,
                Some((Ok(number), "failed")) => self.failed += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_summed_and_other_lines_ignored() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "test a ... ok",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s",
            "all 7 passed; 9 failed",
        ] {
            tally.read(line);
        }
        assert_eq!(tally, Tally { passed: 13, failed: 2 });
    }
}
