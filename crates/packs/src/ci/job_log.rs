//! `job_log`: reads what a job wrote, part by part.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    job::{Page, Stream},
    pack::{self, Ci},
};
use crate::told::Told;
use trunkline_toolbox::{Context, Tool, ToolError};

/// Bytes of one answer, unless asked otherwise, and at most.
const DEFAULT_BYTES: usize = 16 * 1024;
const MOST_BYTES: usize = 64 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Args {
    /// As `start_job`, build and the others told.
    job_id: String,
    /// Which stream; compilers mostly write to stderr.
    #[serde(default)]
    stream: Stream,
    /// Where to begin, in bytes; take `nextOffset` of the answer before.
    #[serde(default)]
    offset: u64,
    /// Most bytes of one answer, 1 to 65536; 16384 if left out.
    #[schemars(range(min = 1, max = 65536))]
    limit: Option<usize>,
}

/// A part of what a job wrote.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LogPart {
    text: String,
    /// Where this part begins.
    offset: u64,
    /// Where to go on.
    next_offset: u64,
    /// Bytes from the offset asked for that were not kept: of a long log only the beginning and the end are.
    skipped_bytes: u64,
    /// Bytes written by now.
    size_bytes: u64,
    /// Whether there is more, now or while the job runs.
    truncated: bool,
}

pub(super) fn tool(ci: &Arc<Ci>) -> Tool {
    pack::tool(ci, "job_log", run)
        .title("Read a job's log")
        .description("Reads what a job wrote, from a byte offset on, at most 64 KB at once. Go on with nextOffset while truncated is true. Also works while the job runs. Secrets and terminal controls are left out.")
        .read_only()
        .idempotent()
        .closed_world()
}

async fn run(ci: Arc<Ci>, cx: Context, args: Args) -> Result<Told<LogPart>, ToolError> {
    let job = ci.jobs.get(&cx.caller().id, &args.job_id)?;
    let limit = args.limit.unwrap_or(DEFAULT_BYTES).clamp(1, MOST_BYTES);
    let page = job.log(args.stream, args.offset, limit);
    Ok(told(page))
}

fn told(page: Page) -> Told<LogPart> {
    let mut text = page.text.clone();
    if page.skipped > 0 {
        text = format!("[{} bytes left out]\n{text}", page.skipped);
    }
    if !page.is_last {
        text = format!("{text}\n[go on at offset {}]", page.next);
    }
    let data = LogPart {
        text: page.text,
        offset: page.offset,
        next_offset: page.next,
        skipped_bytes: page.skipped,
        size_bytes: page.total,
        truncated: !page.is_last,
    };
    Told { text, data }
}
