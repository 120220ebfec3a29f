//! `cargo xtask flicker`: lints published servers again and again, and reports what changes.

use anyhow::{Result, bail};

use crate::arguments::Arguments;
use crate::process;
use crate::strangers::{self, Extent};
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let only = arguments.values("--only")?;
    let servers = arguments.parsed("--servers")?.unwrap_or(30);
    let runs = arguments.parsed("--runs")?.unwrap_or(20);
    let as_built = arguments.flag("--as-built");
    arguments.finish()?;
    if !as_built {
        process::run(&mut workspace.cargo(&["build", "--package", "trunkline", "--bin", "trunkline"]))?;
    }
    let changes = strangers::lint_repeatedly(workspace, &only, Extent { servers, runs })?;
    match changes.len() {
        0 => Ok(()),
        count => bail!("{count} outcomes changed between runs:\n{}", changes.join("\n")),
    }
}
