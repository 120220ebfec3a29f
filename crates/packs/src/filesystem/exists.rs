//! `file_exists` and `directory_exists`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Filesystem;
use super::budget::Budget;
use crate::sandbox::{AccessError, Kind, Purpose};
use trunkline_toolbox::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Path to look for
    path: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Existence {
    exists: bool,
}

pub(super) fn file_tool(fs: &Arc<Filesystem>) -> Tool {
    super::tool(fs, "file_exists", |fs, args, _: &Budget| exists(fs, args, Kind::File))
        .title("Does a file exist")
        .description(
            "Tells whether a path is a regular file. A link inside the allowed directory is followed; a directory is no \
             file. A path outside is an error, not `false`.",
        )
        .read_only()
        .idempotent()
}

pub(super) fn directory_tool(fs: &Arc<Filesystem>) -> Tool {
    super::tool(fs, "directory_exists", |fs, args, _: &Budget| exists(fs, args, Kind::Directory))
        .title("Does a directory exist")
        .description(
            "Tells whether a path is a directory. A link inside the allowed directory is followed. A path outside is an \
             error, not `false`.",
        )
        .read_only()
        .idempotent()
}

fn exists(fs: &Filesystem, args: &Args, wanted: Kind) -> Result<Existence, ToolError> {
    let kind = fs.sandbox.spot(&args.path, Purpose::Read).and_then(|spot| spot.kind());
    match kind {
        Ok(kind) => Ok(Existence { exists: kind == wanted }),
        Err(AccessError::Missing { .. } | AccessError::NotADirectory { .. }) => {
            Ok(Existence { exists: false })
        }
        Err(error) => Err(error.into()),
    }
}
