//! `cargo xtask matrix`: runs the suites through `trunkline bridge`, for every pair of eras and
//! every transport.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::arguments::Arguments;
use crate::conformance::{EXAMPLE, SERVER_EXAMPLE};
use crate::matrix::{self, Fixture, Plan, Table};
use crate::peers;
use crate::process;
use crate::workspace::Workspace;

/// The page that `--write` replaces.
const PAGE: &str = "docs/matrix.md";

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let plan = Plan {
        cells: arguments.values("--cell")?,
        only: arguments.values("--only")?,
        fixtures: arguments
            .values("--fixture")?
            .iter()
            .map(|text| Fixture::parse(text))
            .collect::<Result<_>>()?,
    };
    let write = arguments.flag("--write");
    let as_built = arguments.flag("--as-built");
    arguments.finish()?;
    if !as_built {
        let build =
            ["build", "--package", "trunkline", "--bins", "--example", EXAMPLE, "--example", SERVER_EXAMPLE];
        process::run(&mut workspace.cargo(&build))?;
    }
    let table = matrix::run(workspace, &peers::install(&workspace.peers())?, &plan)?;
    println!("\n{}", table.summary());
    if write {
        let path = workspace.root().join(PAGE);
        fs::write(&path, table.page()).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    conclude(&table)
}

/// Returns an error if a scenario failed that can pass.
pub(super) fn conclude(table: &Table) -> Result<()> {
    match table.failed() {
        0 => Ok(()),
        failed => bail!("{failed} scenarios failed; their traces are in target/conformance"),
    }
}

pub(super) fn via(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let Some(url) = arguments.word() else { bail!("expected the URL of a server: cargo xtask via URL") };
    arguments.finish()?;
    matrix::via(workspace, &url)
}
