//! `search_files`: finds files by name.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Filesystem;
use super::budget::Budget;
use super::filter::Filter;
use super::ignores::Ignored;
use super::walk::{self, End, Rules, Step};
use crate::sandbox::{Kind, Purpose};
use trunkline_toolbox::{Tool, ToolError};

const USUAL_RESULTS: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Directory to search; default: the allowed directory
    #[serde(default = "here")]
    path: String,
    /// Glob: `*.rs` matches names at any depth, `src/**/*.rs` paths below the searched directory
    pattern: String,
    /// Globs of files and directories to exclude
    #[serde(default)]
    exclude: Vec<String>,
    /// Include files ignored by `.gitignore`, and `.git`
    #[serde(default)]
    include_ignored: bool,
    /// Maximum number of results; default 100
    #[schemars(range(min = 1))]
    max_results: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Hits {
    results: Vec<Hit>,
    /// Number of entries examined
    looked_at: usize,
    /// True if there may be more results
    truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Hit {
    /// Path that other tools accept
    path: String,
    r#type: Kind,
}

pub(super) fn tool(fs: &Arc<Filesystem>) -> Tool {
    super::tool(fs, "search_files", run)
        .title("Search files by name")
        .description(format!(
            "Finds files, directories and links whose name or path fits a glob, in the order of their paths. Returns {USUAL_RESULTS} \
             results unless max_results says otherwise (at most {}), and looks at no more than {} entries and {} \
             seconds; `truncated` tells that there may be more. What `.gitignore` names is left out unless include_ignored is \
             true. Links are not followed. To search inside files use search_content.",
            fs.caps.results,
            fs.caps.walked,
            fs.caps.time.as_secs()
        ))
        .read_only()
        .idempotent()
}

pub(super) fn here() -> String {
    ".".to_owned()
}

fn run(fs: &Filesystem, args: &Args, budget: &Budget) -> Result<Hits, ToolError> {
    let top = fs.spot(&args.path, Purpose::Read)?.open_dir()?;
    let wanted = Filter::new(std::slice::from_ref(&args.pattern))?;
    let most = args.max_results.unwrap_or(USUAL_RESULTS).clamp(1, fs.caps.results);
    let rules = Rules {
        depth: usize::MAX,
        exclude: Filter::new(&args.exclude)?,
        ignored: if args.include_ignored { Ignored::Include } else { Ignored::PassOver },
    };
    let mut results = Vec::new();
    let mut looked_at = 0;
    let end = walk::walk(fs, &top, &rules, budget, &mut |found| {
        looked_at += 1;
        if wanted.fits(found.below) {
            if results.len() == most {
                return Ok(Step::Stop);
            }
            results.push(Hit { path: found.dir.label(&found.entry.name), r#type: found.entry.kind });
        }
        Ok(Step::On)
    })?;
    Ok(Hits { results, looked_at, truncated: end == End::Early })
}
