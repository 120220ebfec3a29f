//! `cargo xtask compare`: compares our linter with others on the same set of faults.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::arguments::Arguments;
use crate::compare::{self, Plan};
use crate::peers;
use crate::process;
use crate::workspace::Workspace;

/// The page that `--write` replaces.
const PAGE: &str = "docs/lint-comparison.md";

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let plan = Plan {
        only: arguments.values("--only")?,
        linters: arguments
            .values("--linter")?
            .iter()
            .map(|word| compare::linter(word))
            .collect::<Result<_>>()?,
    };
    let write = arguments.flag("--write");
    let as_built = arguments.flag("--as-built");
    arguments.finish()?;
    if !as_built {
        let build = ["build", "--package", "trunkline", "--package", "trunkline-testkit", "--bins"];
        process::run(&mut workspace.cargo(&build))?;
    }
    let table = compare::run(workspace, peers::install_linters(&workspace.peers())?, plan)?;
    println!("\n{}", table.summary());
    if write {
        let path = workspace.root().join(PAGE);
        fs::write(&path, table.page()).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    match table.unnamed() {
        unnamed if unnamed.is_empty() => Ok(()),
        unnamed => bail!("our linter does not name these faults: {}", unnamed.join(", ")),
    }
}
