//! Installing npm packages, and finding a Node for the conformance suites.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use super::answer_of;
use super::pins::{OLDEST_NODE, Pin};
use crate::process::{Ending, Scope, run_bounded};

const LIMIT: Duration = Duration::from_mins(10);
const GIST_LINES: usize = 4;
/// Error codes and messages of npm for an unreachable registry.
const UNREACHABLE: [&str; 6] =
    ["ENOTFOUND", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EAI_AGAIN", "ENETUNREACH"];

pub(super) fn install(folder: &Path, pins: &[Pin], log: &Path) -> Result<()> {
    if answer_of("npm", &["--version"]).is_none() {
        bail!("npm does not run; install Node.js 20 or newer (npm comes with it) and put both on the PATH");
    }
    fs::write(folder.join("package.json"), "{ \"private\": true }\n")?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress", "--save-exact"]);
    npm.args(pins.iter().map(|(name, version)| format!("{name}@{version}"))).current_dir(folder);
    match run_bounded(&mut npm, log, LIMIT, Scope::Program)? {
        Ending::Exited(status) if status.success() => Ok(()),
        ending => bail!("{}", explain(ending, &fs::read_to_string(log).unwrap_or_default(), log)),
    }
}

/// Returns the Node on the PATH if it is new enough for the suites.
pub(super) fn system_node() -> Result<Option<PathBuf>> {
    let asked = answer_of("node", &["-p", "process.versions.node + ' ' + process.execPath"]);
    let Some((version, path)) = asked.as_deref().and_then(|text| text.split_once(' ')) else {
        bail!("node does not run; install Node.js 20 or newer (with npm) and put both on the PATH");
    };
    let major: u32 = version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0);
    Ok((major >= OLDEST_NODE).then(|| PathBuf::from(path)))
}

fn explain(ending: Ending, output: &str, log: &Path) -> String {
    let cause = if output.contains("ETARGET") || output.contains("E404") {
        "the registry does not have a pinned version; see the pins in xtask/src"
    } else if UNREACHABLE.iter().any(|word| output.contains(word)) {
        "npm's registry cannot be reached; check the network and `npm config get registry`, then try again"
    } else if ending == Ending::OutOfTime {
        "npm took too long; check the network, then try again"
    } else {
        "npm install failed"
    };
    format!("{cause}\n{}\n    (all of it: {})", gist(output), log.display())
}

/// Returns the first error lines of an installer's output, or its last lines if there are none;
/// indented.
pub(super) fn gist(output: &str) -> String {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut chosen: Vec<&str> =
        lines.iter().copied().filter(|line| line.to_lowercase().contains("error")).take(GIST_LINES).collect();
    if chosen.is_empty() {
        chosen = lines[lines.len().saturating_sub(GIST_LINES)..].to_vec();
    }
    chosen.iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreachable_registry_is_told_from_a_missing_version() {
        let log = Path::new("log.txt");
        let offline = explain(Ending::OutOfTime, "npm error code ENOTFOUND", log);
        assert!(offline.starts_with("npm's registry cannot be reached"), "{offline}");
        let missing = explain(Ending::OutOfTime, "npm error code ETARGET", log);
        assert!(missing.starts_with("the registry does not have a pinned version"), "{missing}");
    }

    #[test]
    fn the_gist_is_what_speaks_of_an_error_or_else_the_end() {
        let words = "one two three four five";
        let plain = words.replace(' ', "\n\n");
        assert_eq!(gist(&plain), "    two\n    three\n    four\n    five");
        assert_eq!(gist(&format!("{plain}\nnpm error code E1\nmore")), "    npm error code E1");
    }
}
