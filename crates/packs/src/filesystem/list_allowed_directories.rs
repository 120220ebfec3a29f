//! `list_allowed_directories`: shows the allowed directories and the protected names.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::{Access, Filesystem};
use crate::sandbox::escape_bytes;
use trunkline_toolbox::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Allowed {
    /// Relative paths start at the first one
    directories: Vec<String>,
    writable: bool,
    /// Names that can be neither read nor changed, at any depth
    never_read: Vec<String>,
    /// Names that can be read but not changed, at any depth
    never_changed: Vec<String>,
}

pub(super) fn tool(fs: &Arc<Filesystem>) -> Tool {
    super::tool(fs, "list_allowed_directories", run)
        .title("List allowed directories")
        .description(
            "Lists the directories that these tools can reach, whether they may write there, and which names are protected. \
             Relative paths in other tools mean the first directory.",
        )
        .read_only()
        .idempotent()
}

#[expect(clippy::unnecessary_wraps, reason = "all tools of the pack have this form")]
fn run(fs: &Filesystem, _: &Args, _: &Budget) -> Result<Allowed, ToolError> {
    let protected = fs.sandbox.protected();
    Ok(Allowed {
        directories: fs
            .sandbox
            .roots()
            .iter()
            .map(|root| escape_bytes(root.path().as_os_str().as_bytes()))
            .collect(),
        writable: fs.access == Access::ReadWrite,
        never_read: protected.secret_rules().map(str::to_owned).collect(),
        never_changed: protected.fixed_rules().map(str::to_owned).collect(),
    })
}
