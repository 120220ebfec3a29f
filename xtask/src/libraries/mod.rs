//! The client libraries in `clients/`: builds them and runs their own suites against the binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::peers::Peers;
use crate::process;
use crate::workspace::Workspace;

/// The variables in which the suites find the binary and the test peers.
const BINARY: &str = "TRUNKLINE_BINARY";
const PEERS: &str = "TRUNKLINE_PEERS";

/// Number of passed and failed tests.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

/// Compiles the TypeScript client, and runs its suite in Node and in a browser.
pub(crate) fn typescript(workspace: &Workspace, peers: &Peers) -> Result<Counts> {
    let folder = workspace.root().join("clients/typescript");
    let compiler = workspace.peers().join("web/node_modules/typescript/bin/tsc");
    for project in ["tsconfig.json", "test/tsconfig.json"] {
        let mut compile = Command::new(peers.node()?);
        process::run(compile.arg(&compiler).args(["--project", project]).current_dir(&folder))?;
    }
    let mut node = Command::new(peers.node()?);
    node.args(["--test", "--test-reporter=tap"]).args(suites(&folder)?);
    count(prepared(&mut node, workspace, &folder), Counts::read_tap)
}

/// Checks the types of the Python client, and runs its suite.
pub(crate) fn python(workspace: &Workspace) -> Result<Counts> {
    let folder = workspace.root().join("clients/python");
    let programs = workspace.peers().join("rest/bin");
    let cache = workspace.target().join("python-cache");
    for part in ["src", "tests"] {
        let mut check = Command::new(programs.join("mypy"));
        check.args(["--strict", "--cache-dir"]).arg(cache.join("mypy")).arg(part);
        process::run(check.current_dir(&folder).env("MYPYPATH", "src"))?;
    }
    let mut pytest = Command::new(programs.join("pytest"));
    pytest.arg("-q").arg("-o").arg(format!("cache_dir={}", cache.join("pytest").display()));
    pytest.env("PYTHONPATH", folder.join("src")).env("PYTHONDONTWRITEBYTECODE", "1");
    count(prepared(&mut pytest, workspace, &folder), Counts::read_pytest)
}

fn prepared<'a>(command: &'a mut Command, workspace: &Workspace, folder: &Path) -> &'a mut Command {
    command.current_dir(folder).env(BINARY, workspace.binary()).env(PEERS, workspace.peers())
}

/// The files of the TypeScript suite.
fn suites(folder: &Path) -> Result<Vec<PathBuf>> {
    let files = fs::read_dir(folder.join("test")).context("the TypeScript suite is missing")?;
    let files = files.map(|file| Ok(file?.path())).collect::<Result<Vec<_>>>()?;
    let is_suite = |file: &PathBuf| file.to_string_lossy().ends_with(".test.mjs");
    let mut suites: Vec<PathBuf> = files.into_iter().filter(is_suite).collect();
    suites.sort();
    Ok(suites)
}

fn count(command: &mut Command, read: fn(&mut Counts, &str)) -> Result<Counts> {
    let mut counts = Counts::default();
    let status = process::run_watching(command, |line| read(&mut counts, line))?;
    if !status.success() || counts.failed > 0 {
        bail!("{} tests failed ({status})", counts.failed);
    }
    if counts.passed == 0 {
        bail!("`{}` ran no test", process::shown(command));
    }
    Ok(counts)
}

impl Counts {
    /// Reads lines such as `# pass 12`.
    fn read_tap(&mut self, line: &str) {
        let number = |word| line.strip_prefix(word).and_then(|rest| rest.trim().parse().ok());
        self.passed = number("# pass ").unwrap_or(self.passed);
        self.failed = number("# fail ").unwrap_or(self.failed);
    }

    /// Reads a last line such as `1 failed, 23 passed in 1.50s`.
    fn read_pytest(&mut self, line: &str) {
        let Some((counts, _)) = line.rsplit_once(" in ") else { return };
        for count in counts.split(", ") {
            match count.split_once(' ').map(|(number, word)| (number.parse(), word)) {
                Some((Ok(number), "passed")) => self.passed = number,
                Some((Ok(number), "failed" | "error" | "errors")) => self.failed += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_both_suites_are_read() {
        let mut counts = Counts::default();
        for line in ["ok 1 - # pass the time", "# tests 3", "# pass 2", "# fail 1"] {
            counts.read_tap(line);
        }
        assert_eq!(counts, Counts { passed: 2, failed: 1 });
        let mut counts = Counts::default();
        for line in ["..F [100%]", "FAILED tests/a.py::b - in vain", "1 failed, 23 passed, 1 error in 1.50s"]
        {
            counts.read_pytest(line);
        }
        assert_eq!(counts, Counts { passed: 23, failed: 2 });
    }
}
