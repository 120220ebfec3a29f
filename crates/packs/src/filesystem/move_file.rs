//! `move_file`: moves or renames a file or directory.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::{Filesystem, lock};
use crate::sandbox::{Durability, Purpose};
use trunkline_toolbox::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// File, directory or link to move
    source: String,
    /// New path, including the name
    destination: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Moved {
    source: String,
    destination: String,
}

pub(super) fn tool(fs: &Arc<Filesystem>) -> Tool {
    super::tool(fs, "move_file", run)
        .title("Move or rename")
        .description(
            "Moves or renames a file, directory or link, in one step. The destination is the new path including the name; its \
             parent directory must exist. Nothing is ever replaced: if the destination exists, the call fails. Does not \
             move between filesystems. A link is moved itself.",
        )
        .destructive()
        .not_idempotent()
}

fn run(fs: &Filesystem, args: &Args, budget: &Budget) -> Result<Moved, ToolError> {
    let source = fs.spot(&args.source, Purpose::Rename)?;
    let destination = fs.spot(&args.destination, Purpose::Rename)?;
    let (from, name) = source.entry()?;
    let (to, new) = destination.entry()?;
    // An edit under way would give the old name a new file.
    let _alone = lock(&source, budget)?;
    from.rename_to_new(name, to, new)?;
    if fs.durability == Durability::Flushed {
        to.sync()?;
        from.sync()?;
    }
    Ok(Moved { source: source.label(), destination: destination.label() })
}
