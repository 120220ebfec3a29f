//! `cargo xtask strangers`: compares what published servers list directly and through us.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::arguments::Arguments;
use crate::process;
use crate::strangers::{self, PAGE};
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let only = arguments.values("--only")?;
    let write = arguments.flag("--write");
    let as_built = arguments.flag("--as-built");
    arguments.finish()?;
    if write && !only.is_empty() {
        bail!("--write needs all servers; leave --only out");
    }
    if !as_built {
        process::run(&mut workspace.cargo(&["build", "--package", "trunkline", "--bin", "trunkline"]))?;
    }
    let table = strangers::run(workspace, &only)?;
    println!("\n{}", table.summary());
    if write {
        let path = workspace.root().join(PAGE);
        let page = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        fs::write(&path, table.write_into(&page)?)
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    match table.failed() {
        failed if failed.is_empty() => Ok(()),
        failed => bail!("these servers differ or could not be tried: {}", failed.join(", ")),
    }
}
