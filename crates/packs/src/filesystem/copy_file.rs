//! `copy_file`: copies one regular file.

use std::io::{Read, Write};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::write_file::existing;
use super::{Filesystem, io_failed, lock};
use crate::sandbox::{AccessError, Draft, Like, Onto, Purpose};
use trunkline_toolbox::{Tool, ToolError};

const CHUNK: usize = 256 << 10;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// File to copy
    source: String,
    /// Path of the copy, including its name
    destination: String,
    /// Replace an existing file
    #[serde(default)]
    overwrite: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Copy {
    source: String,
    destination: String,
    bytes_copied: u64,
}

pub(super) fn tool(fs: &Arc<Filesystem>) -> Tool {
    super::tool(fs, "copy_file", run)
        .title("Copy file")
        .description(format!(
            "Copies one regular file of at most {} MB with its permissions; directories are not copied. Missing parent directories of \
             the destination are made. An existing destination is refused unless overwrite is true. The copy \
             appears under its name only when it is complete.",
            fs.caps.copy_bytes >> 20
        ))
        .destructive()
        .not_idempotent()
}

fn run(fs: &Filesystem, args: &Args, budget: &Budget) -> Result<Copy, ToolError> {
    let source = fs.open(&args.source)?;
    if source.size() > fs.caps.copy_bytes {
        return Err(too_large(fs, &source.label));
    }
    let spot = fs.spot(&args.destination, Purpose::Create)?;
    let (dir, name) = spot.entry()?;
    let _alone = lock(&spot, budget)?;
    let replaced = existing(dir, name)?;
    let (like, onto) = match &replaced {
        None => (Like::Copied(&source.stat), Onto::Nothing),
        Some(stat) if args.overwrite => (Like::Replaced(stat), Onto::Anything),
        Some(_) => return Err(AccessError::Exists { path: spot.label() }.into()),
    };
    if replaced.is_some_and(|stat| (stat.st_dev, stat.st_ino) == (source.stat.st_dev, source.stat.st_ino)) {
        return Err(
            ToolError::new("source and destination are the same file").hint("choose another destination")
        );
    }
    let mut draft = Draft::begin(dir, like, fs.durability)?;
    let mut chunk = vec![0; CHUNK];
    let mut bytes_copied = 0;
    loop {
        budget.check()?;
        let read = (&source.file).read(&mut chunk).map_err(|error| io_failed(error, &source.label))?;
        if read == 0 {
            break;
        }
        bytes_copied += read as u64;
        if bytes_copied > fs.caps.copy_bytes {
            return Err(too_large(fs, &source.label));
        }
        draft.write_all(&chunk[..read]).map_err(|error| io_failed(error, &spot.label()))?;
    }
    match draft.place(name, onto) {
        // Another process has made a file of this name meanwhile.
        Err(AccessError::Exists { path }) if args.overwrite => {
            return Err(AccessError::Changed { path }.into());
        }
        placed => placed?,
    }
    Ok(Copy { source: source.label, destination: spot.label(), bytes_copied })
}

fn too_large(fs: &Filesystem, label: &str) -> ToolError {
    ToolError::new(format!("`{label}` is larger than the {} bytes that can be copied", fs.caps.copy_bytes))
        .hint("copy it outside of this server")
}
