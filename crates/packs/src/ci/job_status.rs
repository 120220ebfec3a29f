//! `job_status`: reports the state of a job, or its end.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    action,
    pack::{self, Ci},
    run_report::RunReport,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Context, Tool, ToolError};

/// Maximum time that a call waits, in seconds.
const LONGEST_WAIT: u64 = 25;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Args {
    /// The `jobId` returned by `start_job`.
    job_id: String,
    /// Seconds to wait for the end of the job, up to 25; 0 returns at once.
    #[serde(default)]
    #[schemars(range(min = 0, max = 25))]
    wait_seconds: u64,
}

pub(super) fn tool(ci: &Arc<Ci>) -> Tool {
    pack::tool(ci, "job_status", run)
        .title("Show a job")
        .description("Tells whether a job still runs, and when it has ended its outcome: failed tests or errors with file, line and reason, and the end of the log. With waitSeconds it waits for the end, so that you need not ask again and again.")
        .read_only()
        .idempotent()
        .closed_world()
}

async fn run(ci: Arc<Ci>, cx: Context, args: Args) -> Result<TextAndData<RunReport>, ToolError> {
    let job = ci.jobs.get(&cx.caller().id, &args.job_id)?;
    job.wait(Duration::from_secs(args.wait_seconds.min(LONGEST_WAIT))).await;
    Ok(action::current_report(&ci, &job))
}
