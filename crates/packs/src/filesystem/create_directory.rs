//! `create_directory`: creates a directory and its missing parents.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Filesystem;
use super::budget::Budget;
use crate::sandbox::{AccessError, Durability, Kind, Purpose};
use trunkline_toolbox::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Directory to create, with missing parents
    path: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Made {
    path: String,
    /// False if it already existed
    created: bool,
}

pub(super) fn tool(fs: &Arc<Filesystem>) -> Tool {
    super::tool(fs, "create_directory", run)
        .title("Create directory")
        .description(
            "Makes a directory, with missing parents. If it is there already, nothing changes and `created` is false. If \
             something else has the name, that is an error.",
        )
        .additive()
        .idempotent()
}

fn run(fs: &Filesystem, args: &Args, _: &Budget) -> Result<Made, ToolError> {
    let spot = fs.spot(&args.path, Purpose::Create)?;
    let path = spot.label();
    let Ok((dir, name)) = spot.entry() else { return Ok(Made { path, created: false }) };
    match dir.make_dir(name) {
        Ok(()) => {
            if fs.durability == Durability::Flushed {
                dir.sync()?;
            }
            Ok(Made { path, created: true })
        }
        Err(AccessError::Exists { .. }) => match spot.kind()? {
            Kind::Directory => Ok(Made { path, created: false }),
            Kind::Symlink => Err(dir.is_link(name).into()),
            found => Err(AccessError::NotADirectory { path, found }.into()),
        },
        Err(error) => Err(error.into()),
    }
}
