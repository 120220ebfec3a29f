//! `cargo xtask peers`: installs the test peers.

use anyhow::Result;

use crate::arguments::Arguments;
use crate::peers;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    arguments.finish()?;
    let root = workspace.peers();
    peers::install(&root)?;
    println!("test peers are in {}", root.display());
    Ok(())
}
