//! `job_log`: reads the output of a job, part by part.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    job::{Page, Stream},
    pack::{self, Ci},
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Context, Tool, ToolError};

/// Default number of bytes in an answer; below: the maximum.
const DEFAULT_BYTES: usize = 16 * 1024;
const MOST_BYTES: usize = 64 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Args {
    /// The `jobId` returned by `start_job`, `build` and the other tools that run programs.
    job_id: String,
    /// Output stream; compilers mostly write to stderr.
    #[serde(default)]
    stream: Stream,
    /// Offset in bytes; use `nextOffset` of the previous answer.
    #[serde(default)]
    offset: u64,
    /// Maximum bytes of the answer, 1 to 65536; default 16384.
    #[schemars(range(min = 1, max = 65536))]
    limit: Option<usize>,
}

/// A part of a job's output.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LogPart {
    text: String,
    /// Offset of this part.
    offset: u64,
    /// Offset of the next part.
    next_offset: u64,
    /// Bytes after `offset` that were dropped: only the ends of a long log are kept.
    skipped_bytes: u64,
    /// Bytes written so far.
    size_bytes: u64,
    /// True if there is more, now or while the job runs.
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

async fn run(ci: Arc<Ci>, cx: Context, args: Args) -> Result<TextAndData<LogPart>, ToolError> {
    let job = ci.jobs.get(&cx.caller().id, &args.job_id)?;
    let limit = args.limit.unwrap_or(DEFAULT_BYTES).clamp(1, MOST_BYTES);
    let page = job.log(args.stream, args.offset, limit);
    Ok(answer(page))
}

fn answer(page: Page) -> TextAndData<LogPart> {
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
    TextAndData { text, data }
}
