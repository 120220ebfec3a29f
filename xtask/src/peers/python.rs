//! Installing Python packages into a virtual environment.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use super::answer_of;
use super::npm::gist;
use super::pins::{OLDEST_PYTHON, Pin};
use crate::process::{Ending, Scope, run_bounded};

const LIMIT: Duration = Duration::from_mins(10);
/// Messages of pip for an unreachable index.
const UNREACHABLE: [&str; 5] = [
    "NewConnectionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "Max retries exceeded",
    "from versions: none",
];

pub(super) fn install(folder: &Path, pins: &[Pin], log: &Path) -> Result<()> {
    check_python()?;
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(folder);
    step(&mut venv, log)?;
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args(["install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off"]);
    pip.args(pins.iter().map(|(name, version)| format!("{name}=={version}")));
    step(&mut pip, log)
}

fn check_python() -> Result<()> {
    let (major, minor) = OLDEST_PYTHON;
    let script = "import sys; print('%d %d' % sys.version_info[:2])";
    let Some(version) = answer_of("python3", &["-c", script]) else {
        bail!("python3 does not run; install Python {major}.{minor} or newer and put it on the PATH");
    };
    let mut numbers = version.split(' ').map(|number| number.parse().unwrap_or(0));
    if (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < OLDEST_PYTHON {
        bail!("python3 is {}; {major}.{minor} or newer is needed", version.replace(' ', "."));
    }
    if answer_of("python3", &["-c", "import venv, ensurepip"]).is_none() {
        bail!("python3 lacks its venv module; install it (on Debian and Ubuntu: the package python3-venv)");
    }
    Ok(())
}

fn step(command: &mut Command, log: &Path) -> Result<()> {
    match run_bounded(command, log, LIMIT, Scope::Program)? {
        Ending::Exited(status) if status.success() => Ok(()),
        ending => bail!("{}", explain(ending, &fs::read_to_string(log).unwrap_or_default(), log)),
    }
}

fn explain(ending: Ending, output: &str, log: &Path) -> String {
    // An unreachable index also causes "no matching distribution", so check for it first.
    let cause = if UNREACHABLE.iter().any(|word| output.contains(word)) {
        "the Python package index cannot be reached; check the network and `pip config list`, then try again"
    } else if output.contains("No matching distribution") {
        "the index does not have a pinned version for this Python; see the pins in xtask/src"
    } else if ending == Ending::OutOfTime {
        "pip took too long; check the network, then try again"
    } else {
        "pip install failed"
    };
    format!("{cause}\n{}\n    (all of it: {})", gist(output), log.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreachable_index_is_told_from_a_missing_version() {
        let log = Path::new("log.txt");
        let offline = "Max retries exceeded\nERROR: No matching distribution found for mcp";
        assert!(explain(Ending::OutOfTime, offline, log).starts_with("the Python package index cannot"));
        let missing = "ERROR: No matching distribution found for mcp==99";
        assert!(explain(Ending::OutOfTime, missing, log).starts_with("the index does not have"));
    }
}
