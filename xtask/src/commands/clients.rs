//! `cargo xtask clients`: runs the suites of the client libraries against the debug build.

use anyhow::Result;

use crate::arguments::Arguments;
use crate::libraries;
use crate::peers;
use crate::process;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    arguments.finish()?;
    process::run(&mut workspace.cargo(&["build", "--package", "trunkline", "--bins"]))?;
    let peers = peers::install(&workspace.peers())?;
    let (typescript, python) = (libraries::typescript(workspace, &peers)?, libraries::python(workspace)?);
    println!("TypeScript: {} passed; Python: {} passed", typescript.passed, python.passed);
    Ok(())
}
