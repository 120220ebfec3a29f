//! `rerun`: restarts a run at a hosted service. Offered only if the operator allows it, and only
//! to callers with the required scope.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    failed_job_logs::run_number,
    pack::{self, Ci},
    provider::{ProviderKind, Scope},
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Context, Tool, ToolError};

/// Scope that a caller's token needs.
const RERUN_SCOPE: &str = "ci:rerun";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Args {
    /// Required if several providers are configured.
    provider: Option<ProviderKind>,
    /// Like owner/name; default: the first configured project.
    project: Option<String>,
    /// The id of a run from `list_runs`.
    run_id: String,
    /// True: only the failed jobs; false: all jobs, which GitLab does not support.
    #[serde(default = "yes")]
    failed_only: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Restarted {
    run_id: String,
    failed_only: bool,
}

pub(super) fn tool(ci: &Arc<Ci>) -> Tool {
    pack::tool(ci, "rerun", run)
        .title("Run again")
        .description("Starts the failed jobs of a run again, or all. This uses minutes of the service, and may deploy what the run deploys. Follow it with wait_for_run.")
        .destructive()
        .not_idempotent()
        .open_world()
        .require_scope(RERUN_SCOPE)
}

async fn run(ci: Arc<Ci>, _cx: Context, args: Args) -> Result<TextAndData<Restarted>, ToolError> {
    let hosted = ci.providers.choose(args.provider, args.project.as_deref())?;
    let scope = if args.failed_only { Scope::FailedJobs } else { Scope::AllJobs };
    hosted.rerun(run_number(&args.run_id)?, scope).await?;
    let what = if args.failed_only { "The failed jobs" } else { "All jobs" };
    let text = format!("{what} of run {} were started again. Follow it with wait_for_run.", args.run_id);
    Ok(TextAndData { text, data: Restarted { run_id: args.run_id, failed_only: args.failed_only } })
}

fn yes() -> bool {
    true
}
