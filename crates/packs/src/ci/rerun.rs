//! `rerun`: starts a run at a hosted service again. Offered only where the operator allows it, and only to callers with
//! the scope for it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    failed_job_logs::run_number,
    pack::{self, Ci},
    provider::{ProviderKind, Scope},
};
use crate::told::Told;
use trunkline_toolbox::{Context, Tool, ToolError};

/// What a caller's token must carry.
const RERUN_SCOPE: &str = "ci:rerun";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Args {
    /// Needed only if several are configured.
    provider: Option<ProviderKind>,
    /// Like owner/name; the first configured one if left out.
    project: Option<String>,
    /// As `list_runs` told.
    run_id: String,
    /// Only the jobs that failed; all if false. GitLab has only the former.
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

async fn run(ci: Arc<Ci>, _cx: Context, args: Args) -> Result<Told<Restarted>, ToolError> {
    let hosted = ci.providers.choose(args.provider, args.project.as_deref())?;
    let scope = if args.failed_only { Scope::FailedJobs } else { Scope::AllJobs };
    hosted.rerun(run_number(&args.run_id)?, scope).await?;
    let what = if args.failed_only { "The failed jobs" } else { "All jobs" };
    let text = format!("{what} of run {} were started again. Follow it with wait_for_run.", args.run_id);
    Ok(Told { text, data: Restarted { run_id: args.run_id, failed_only: args.failed_only } })
}

fn yes() -> bool {
    true
}
