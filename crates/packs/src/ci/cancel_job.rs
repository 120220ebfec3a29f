//! `cancel_job`: ends a job.

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

/// Time limit for killed processes to exit.
const GOING: Duration = Duration::from_secs(10);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Args {
    /// The `jobId` returned by `start_job`.
    job_id: String,
}

pub(super) fn tool(ci: &Arc<Ci>) -> Tool {
    pack::tool(ci, "cancel_job", run)
        .title("Cancel a job")
        .description("Kills a job with all its processes, and tells what it had said until then. For a job that has ended it only tells how.")
        .destructive()
        .idempotent()
        .closed_world()
}

async fn run(ci: Arc<Ci>, cx: Context, args: Args) -> Result<TextAndData<RunReport>, ToolError> {
    let job = ci.jobs.get(&cx.caller().id, &args.job_id)?;
    job.cancel();
    job.wait(GOING).await;
    Ok(action::current_report(&ci, &job))
}
