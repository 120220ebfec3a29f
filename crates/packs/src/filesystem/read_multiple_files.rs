//! `read_multiple_files`: reads the beginnings of several files.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Filesystem;
use super::budget::Budget;
use super::read_file::{self, Read, Wanted};
use super::window::Part;
use trunkline_toolbox::{Tool, ToolError};

/// Minimum share of each file, so that small files are complete even among many.
const LEAST_BYTES: usize = 2 << 10;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Files to read
    #[schemars(length(min = 1))]
    paths: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Contents {
    /// One per path, in the same order
    files: Vec<OneFile>,
    /// True if any content was truncated
    truncated: bool,
    failed: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OneFile {
    /// The path as it was given
    requested: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<Read>,
    /// The reason why this file could not be read
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(super) fn tool(fs: &Arc<Filesystem>) -> Tool {
    super::tool(fs, "read_multiple_files", run)
        .title("Read several files")
        .description(format!(
            "Reads up to {} text files in one call. They share {} KB of answer; each may be cut, see its `truncated` and \
             `next_offset`, and go on with read_file. A file that cannot be read has an `error`, the others are \
             still answered.",
            fs.caps.files,
            fs.caps.read_bytes >> 10
        ))
        .read_only()
        .idempotent()
}

fn run(fs: &Filesystem, args: &Args, budget: &Budget) -> Result<Contents, ToolError> {
    let count = args.paths.len();
    if count == 0 || count > fs.caps.files {
        return Err(
            ToolError::new(format!("{count} paths were given")).hint(format!("give 1 to {}", fs.caps.files))
        );
    }
    let mut left = fs.caps.read_bytes;
    let mut files = Vec::with_capacity(count);
    for (at, path) in args.paths.iter().enumerate() {
        let share = (left / (count - at)).max(LEAST_BYTES);
        let part = Part::From { offset: 0, limit: fs.caps.read_lines };
        let wanted = Wanted { encoding: None, part, most: share };
        let read = fs.open(path).and_then(|opened| read_file::read(fs, &opened, wanted, budget));
        left = left.saturating_sub(read.as_ref().map_or(0, |file| file.content.len()));
        let requested = crate::sandbox::escape(path);
        files.push(match read {
            Ok(file) => OneFile { requested, file: Some(file), error: None },
            Err(error) => OneFile { requested, file: None, error: Some(error.text()) },
        });
    }
    let truncated = files.iter().filter_map(|one| one.file.as_ref()).any(|file| file.truncated);
    let failed = files.iter().filter(|one| one.error.is_some()).count();
    Ok(Contents { files, truncated, failed })
}
