//! `edit_file`: replaces parts of a text file, and returns a diff.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use similar::TextDiff;

use super::budget::Budget;
use super::edits::{self, Edit, Places};
use super::encoding::Document;
use super::hash::hash;
use super::write_file::{existing, put};
use super::{Filesystem, io_failed, lock, window};
use crate::sandbox::{AccessError, Like, Onto, Purpose};
use trunkline_toolbox::{Tool, ToolError};

const MAX_EDITS: usize = 200;
const DIFF_CONTEXT: usize = 3;
/// Time after which the diff algorithm falls back to a faster, less compact result.
const DIFF_TIME: Duration = Duration::from_secs(2);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Text file to edit
    path: String,
    /// Replacements to make
    #[schemars(length(min = 1))]
    edits: Vec<Edit>,
    /// Replace every occurrence of each `old_text` rather than exactly one
    #[serde(default)]
    replace_all: bool,
    /// Only show the diff, without changing the file
    #[serde(default)]
    dry_run: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Edited {
    path: String,
    /// Number of replacements that were (or with `dry_run` would be) made
    replacements: usize,
    /// True if the file was written
    written: bool,
    /// Unified diff
    diff: String,
    /// True if the diff was truncated; the edit itself is complete
    truncated: bool,
    /// SHA-256 of the file after this call
    sha256: String,
}

pub(super) fn tool(fs: &Arc<Filesystem>) -> Tool {
    super::tool(fs, "edit_file", run)
        .title("Edit file")
        .description(format!(
            "Replaces pieces of a text file of at most {} MB and returns a unified diff (at most {} KB). Each old_text must be in the \
             file exactly once, unless replace_all is true. Texts are literal; all are looked for in the file as \
             it was before the call and must not overlap. Either all edits are made, in one step, or none. Line ends (LF or CRLF), encoding and \
             permissions are kept. dry_run: true shows the diff and writes nothing.",
            fs.caps.write_bytes >> 20,
            fs.caps.diff_bytes >> 10
        ))
        .destructive()
        .not_idempotent()
}

fn run(fs: &Filesystem, args: &Args, budget: &Budget) -> Result<Edited, ToolError> {
    if args.edits.is_empty() || args.edits.len() > MAX_EDITS {
        return Err(ToolError::new(format!("{} edits were given", args.edits.len()))
            .hint(format!("give 1 to {MAX_EDITS}")));
    }
    let spot = fs.spot(&args.path, Purpose::Change)?;
    let (dir, name) = spot.entry()?;
    let _alone = lock(&spot, budget)?;
    let opened = fs.opened(spot.label(), dir.open_file(name)?)?;
    let label = &opened.label;
    let read =
        window::read_all(&opened.file, fs.caps.write_bytes).map_err(|error| io_failed(error, label))?;
    let Some(bytes) = read else {
        return Err(ToolError::new(format!(
            "`{label}` has {} bytes, more than can be edited",
            opened.size()
        ))
        .hint("write the changed part as a new file"));
    };
    let text = Document::read(&bytes, label)?;
    let places = if args.replace_all { Places::All } else { Places::One };
    let (new, replacements) = edits::apply(&text.text, &args.edits, places)?;
    let (diff, truncated) = diff(&text.text, &new, label, fs.caps.diff_bytes);
    let new = text.encode(&new);
    if new.len() as u64 > fs.caps.write_bytes {
        return Err(ToolError::new("the edited file would be too large").hint("make fewer replacements"));
    }
    let sha256 = if args.dry_run { hash(&bytes) } else { hash(&new) };
    if !args.dry_run {
        let now = existing(dir, name)?;
        let same = |stat: &rustix::fs::Stat| {
            (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec)
        };
        if now.as_ref().map(same) != Some(same(&opened.stat)) {
            return Err(AccessError::Changed { path: label.clone() }.into());
        }
        put(fs, (dir, name), &new, Like::Replaced(&opened.stat), Onto::Anything)?;
    }
    Ok(Edited { path: spot.label(), replacements, written: !args.dry_run, diff, truncated, sha256 })
}

fn diff(old: &str, new: &str, label: &str, most: usize) -> (String, bool) {
    let changes = TextDiff::configure().timeout(DIFF_TIME).diff_lines(old, new);
    let mut text = changes
        .unified_diff()
        .context_radius(DIFF_CONTEXT)
        .header(&format!("a/{label}"), &format!("b/{label}"))
        .to_string();
    let truncated = text.len() > most;
    if truncated {
        text.truncate(text.floor_char_boundary(most));
        text.push_str("\n…\n");
    }
    (text, truncated)
}
