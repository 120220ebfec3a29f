//! Installing programs from crates.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use super::npm::gist;
use super::pins::Pin;
use crate::process::{Ending, Scope, run_bounded};

/// Timeout; they are built from source, with hundreds of dependencies.
const LIMIT: Duration = Duration::from_hours(1);

pub(super) fn install(folder: &Path, pins: &[Pin], log: &Path) -> Result<()> {
    for (name, version) in pins {
        let mut cargo = Command::new("cargo");
        cargo.args(["install", "--locked", "--root"]).arg(folder).arg(format!("{name}@{version}"));
        match run_bounded(&mut cargo, log, LIMIT, Scope::Program)? {
            Ending::Exited(status) if status.success() => {}
            _ => {
                let output = std::fs::read_to_string(log).unwrap_or_default();
                bail!("cargo install {name} failed\n{}\n    (all of it: {})", gist(&output), log.display());
            }
        }
    }
    Ok(())
}
