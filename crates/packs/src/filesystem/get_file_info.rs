//! `get_file_info`: shows the metadata of an entry.

use std::sync::Arc;

use rustix::fs::Stat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Filesystem;
use super::budget::Budget;
use crate::sandbox::{Kind, Purpose, kind_of};
use trunkline_protocol::time::iso_8601_seconds;
use trunkline_toolbox::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// File, directory or link
    path: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Info {
    path: String,
    r#type: Kind,
    size_bytes: u64,
    /// Permissions in octal, such as `644`
    permissions: String,
    owner: u32,
    group: u32,
    /// Number of names (hard links)
    links: u64,
    modified: String,
    accessed: String,
    /// Last change of content, name or permissions
    changed: String,
    /// Target of a link, unresolved
    #[serde(skip_serializing_if = "Option::is_none")]
    link_target: Option<String>,
}

pub(super) fn tool(fs: &Arc<Filesystem>) -> Tool {
    super::tool(fs, "get_file_info", run)
        .title("Get file information")
        .description(
            "Tells type, size, permissions, owner and times of a file, directory or link. A link is described itself, with \
             what it points to. Times are UTC.",
        )
        .read_only()
        .idempotent()
}

fn run(fs: &Filesystem, args: &Args, _: &Budget) -> Result<Info, ToolError> {
    let spot = fs.spot(&args.path, Purpose::Look)?;
    let stat = spot.stat()?;
    let kind = kind_of(&stat);
    let link_target = match spot.entry() {
        Ok((dir, name)) if kind == Kind::Symlink => Some(dir.link_target(name)?),
        _ => None,
    };
    Ok(Info {
        path: spot.label(),
        r#type: kind,
        size_bytes: size(&stat),
        permissions: format!("{:o}", stat.st_mode & 0o7777),
        owner: stat.st_uid,
        group: stat.st_gid,
        links: links(&stat),
        modified: modified(&stat),
        accessed: iso_8601_seconds(stat.st_atime),
        changed: iso_8601_seconds(stat.st_ctime),
        link_target,
    })
}

#[cfg_attr(
    target_arch = "x86_64",
    expect(clippy::useless_conversion, reason = "the number is narrower on other machines")
)]
fn links(stat: &Stat) -> u64 {
    stat.st_nlink.into()
}

pub(super) fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

pub(super) fn modified(stat: &Stat) -> String {
    iso_8601_seconds(stat.st_mtime)
}
