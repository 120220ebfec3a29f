//! `wait_for_run`: waits until a run at a hosted service has ended.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{
    failed_job_logs::run_number,
    pack::{self, Ci},
    provider::{ProviderKind, Run},
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Context, Limits, TaskMode, Tool, ToolError};

/// Poll interval.
const POLL: Duration = Duration::from_secs(5);

/// Maximum wait of an ordinary call; below: of a task.
const PATIENCE: Duration = Duration::from_secs(25);
const TASK_PATIENCE: Duration = Duration::from_mins(30);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Args {
    /// Required if several providers are configured.
    provider: Option<ProviderKind>,
    /// Like owner/name; default: the first configured project.
    project: Option<String>,
    /// The id of a run from `list_runs`.
    run_id: String,
    /// Maximum seconds to wait; default 25. More than 25 only for clients that support tasks.
    #[schemars(range(min = 1, max = 1800))]
    timeout_seconds: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Waited {
    /// True if the run has ended.
    finished: bool,
    run: Run,
}

pub(super) fn tool(ci: &Arc<Ci>) -> Tool {
    let limits = Limits { task_deadline: TASK_PATIENCE + PATIENCE, ..Limits::default() };
    pack::tool(ci, "wait_for_run", run)
        .title("Wait for a run")
        .description("Waits until a run of GitHub Actions or a GitLab pipeline has ended, up to 25 s for most clients, and tells its state. If finished is false, call again.")
        .read_only()
        .idempotent()
        .open_world()
        .limits(limits)
        .task(TaskMode::OnDemand)
}

async fn run(ci: Arc<Ci>, cx: Context, args: Args) -> Result<TextAndData<Waited>, ToolError> {
    let hosted = ci.providers.choose(args.provider, args.project.as_deref())?;
    let id = run_number(&args.run_id)?;
    let asked = args.timeout_seconds.map_or(PATIENCE, Duration::from_secs).min(TASK_PATIENCE);
    let patience = if asked > PATIENCE && !cx.become_task().await { PATIENCE } else { asked };
    let deadline = Instant::now() + patience;
    let mut round = 0;
    loop {
        let run = hosted.run(id).await?;
        let finished = run.state.is_final();
        if finished || Instant::now() + POLL > deadline {
            return Ok(answer(finished, run));
        }
        round += 1;
        cx.progress(round, None, run.line());
        tokio::time::sleep(POLL).await;
    }
}

fn answer(finished: bool, run: Run) -> TextAndData<Waited> {
    let next = if finished { "" } else { "\nNot finished yet; call wait_for_run again." };
    TextAndData { text: format!("{}{next}", run.line()), data: Waited { finished, run } }
}
