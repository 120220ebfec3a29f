//! `list_directory`: lists a directory and optionally some levels below.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Filesystem;
use super::budget::Budget;
use super::filter::Filter;
use super::get_file_info::{modified, size};
use super::ignores::Ignored;
use super::walk::{self, End, Rules, Step, VisitedEntry};
use crate::sandbox::{Kind, Purpose};
use trunkline_toolbox::{Tool, ToolError};

/// Size of an entry in the answer, without its path, in bytes.
const PLAIN_BYTES: usize = 30;
const DETAILED_BYTES: usize = 90;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Directory to list; `.` is the allowed directory itself
    path: String,
    /// Maximum depth; default 1, the directory alone
    #[schemars(range(min = 1))]
    depth: Option<usize>,
    /// Include size and modification time
    #[serde(default)]
    sizes: bool,
    #[serde(default)]
    sort: Sort,
    /// Globs of entries to exclude; a glob without `/` matches names at any depth
    #[serde(default)]
    exclude: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Sort {
    #[default]
    Name,
    /// Largest first
    Size,
    /// Newest first
    Modified,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Listing {
    path: String,
    entries: Vec<Item>,
    /// Number of entries found, including those not shown
    total: usize,
    truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Item {
    /// Path that other tools accept
    path: String,
    r#type: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    size_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    /// Protected: other tools refuse to read it
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    protected: bool,
}

pub(super) fn tool(fs: &Arc<Filesystem>) -> Tool {
    super::tool(fs, "list_directory", run)
        .title("List directory")
        .description(format!(
            "Lists the entries of a directory with their type; links are shown as links and not followed. With depth it goes \
             down at most {} levels. At most {} entries and {} KB are shown, `total` and `truncated` tell about the rest. \
             Unusual characters in names are written `\\xHH`, and other tools take them so.",
            fs.caps.depth,
            fs.caps.entries,
            fs.caps.read_bytes >> 10
        ))
        .read_only()
        .idempotent()
}

fn run(fs: &Filesystem, args: &Args, budget: &Budget) -> Result<Listing, ToolError> {
    let spot = fs.spot(&args.path, Purpose::Read)?;
    let top = spot.open_dir()?;
    let rules = Rules {
        depth: args.depth.unwrap_or(1).clamp(1, fs.caps.depth),
        exclude: Filter::new(&args.exclude)?,
        ignored: Ignored::Include,
    };
    let mut found = Vec::new();
    let mut total = 0;
    let details = args.sizes || args.sort != Sort::Name;
    let end = walk::walk(fs, &top, &rules, budget, &mut |at| {
        total += 1;
        // A sort order other than that of the walk needs all entries before any can be dropped.
        if args.sort != Sort::Name || found.len() < fs.caps.entries {
            found.push(measured(fs, at, details));
        }
        Ok(Step::On)
    })?;
    match args.sort {
        Sort::Name => {}
        Sort::Size => found.sort_by_key(|(item, _)| std::cmp::Reverse(item.size_bytes)),
        Sort::Modified => found.sort_by_key(|(_, time)| std::cmp::Reverse(*time)),
    }
    found.truncate(fitting(&found, fs));
    let truncated = end == End::Early || found.len() < total;
    let entries = found.into_iter().map(|(item, _)| item).collect();
    Ok(Listing { path: spot.label(), entries, total, truncated })
}

/// Number of entries that fit into one answer.
fn fitting(found: &[(Item, i64)], fs: &Filesystem) -> usize {
    let mut left = fs.caps.read_bytes;
    let fits = |(item, _): &&(Item, i64)| {
        let bytes = item.path.len() + if item.modified.is_some() { DETAILED_BYTES } else { PLAIN_BYTES };
        left.checked_sub(bytes).map(|rest| left = rest).is_some()
    };
    found.iter().take(fs.caps.entries).take_while(fits).count()
}

fn measured(fs: &Filesystem, found: &VisitedEntry<'_>, details: bool) -> (Item, i64) {
    let stat = details.then(|| found.dir.stat(&found.entry.name).ok()).flatten();
    let file = found.entry.kind == Kind::File;
    let item = Item {
        path: found.dir.label(&found.entry.name),
        r#type: found.entry.kind,
        size_bytes: stat.as_ref().filter(|_| file).map(size),
        modified: stat.as_ref().map(modified),
        protected: fs.sandbox.hides(found.dir.root(), &found.dir.path().join(&found.entry.name)),
    };
    (item, stat.map_or(i64::MIN, |stat| stat.st_mtime))
}
