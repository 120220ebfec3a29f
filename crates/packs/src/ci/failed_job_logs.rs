//! `failed_job_logs`: shows why a run at a hosted service failed.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    pack::{self, Ci},
    provider::{Hosted, HostedJob, ProviderKind, RunState},
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Context, Tool, ToolError};

/// Default number of lines of each log.
const DEFAULT_LINES: usize = 200;
const MOST_LINES: usize = 2000;

/// Default number of bytes of each log.
const DEFAULT_BYTES: usize = 16 * 1024;
const MOST_BYTES: usize = 64 * 1024;

/// Maximum number of bytes of all logs in an answer.
const ALL_BYTES: usize = 72 * 1024;

/// Default number of logs in an answer; below: the maximum.
const DEFAULT_JOBS: usize = 5;
const MOST_JOBS: usize = 20;

/// Maximum number of concurrent log requests.
const AT_ONCE: usize = 4;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Args {
    /// Required if several providers are configured.
    provider: Option<ProviderKind>,
    /// Like owner/name; default: the first configured project.
    project: Option<String>,
    /// The id of a run from `list_runs`.
    run_id: String,
    /// Only the job of this name, even if it did not fail.
    job_name: Option<String>,
    /// Lines from the end of each log, 1 to 2000; default 200.
    #[schemars(range(min = 1, max = 2000))]
    tail_lines: Option<usize>,
    /// Maximum bytes of each log, 256 to 65536; default 16384. All logs: at most 72 KB.
    #[schemars(range(min = 256, max = 65536))]
    max_bytes: Option<usize>,
    /// Maximum number of logs, 1 to 20; default 5.
    #[schemars(range(min = 1, max = 20))]
    max_jobs: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Findings {
    run_id: String,
    /// Number of jobs of the run.
    total_jobs: usize,
    /// Number of failed jobs of the run.
    failed_jobs: usize,
    logs: Vec<FailedLog>,
    /// True if logs were left out or the run has more jobs than are read.
    truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FailedLog {
    job_id: String,
    name: String,
    state: RunState,
    url: String,
    /// Failed step or stage and the reason, if the service reports them.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_at: Option<String>,
    /// The end of the log, with secrets redacted.
    log: String,
    /// Size of the whole log in bytes.
    size_bytes: u64,
    /// True if only the end of the log is included.
    truncated: bool,
    /// The reason why the log is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

pub(super) fn tool(ci: &Arc<Ci>) -> Tool {
    pack::tool(ci, "failed_job_logs", run)
        .title("Show logs of failed jobs")
        .description("Shows the end of the logs of the jobs that failed in a run, with the step where they failed. Looks through all pages of jobs. Secrets are taken out.")
        .read_only()
        .idempotent()
        .open_world()
}

async fn run(ci: Arc<Ci>, _cx: Context, args: Args) -> Result<TextAndData<Findings>, ToolError> {
    let hosted = ci.providers.choose(args.provider, args.project.as_deref())?;
    let all = hosted.jobs(run_number(&args.run_id)?).await?;
    let failed: Vec<_> = all.jobs.iter().filter(|job| job.state == RunState::Failed).collect();
    let failed_count = failed.len();
    let chosen: Vec<&HostedJob> = match &args.job_name {
        Some(name) => all.jobs.iter().filter(|job| job.name == *name).collect(),
        None => failed,
    };
    if let (Some(name), []) = (&args.job_name, chosen.as_slice()) {
        let names: Vec<_> = all.jobs.iter().take(50).map(|job| job.name.as_str()).collect();
        return Err(ToolError::not_found(format!("the run has no job {name:?}"))
            .hint(format!("Its jobs are: {}.", names.join(", "))));
    }
    let most = args.max_jobs.unwrap_or(DEFAULT_JOBS).clamp(1, MOST_JOBS).min(chosen.len());
    let lines = args.tail_lines.unwrap_or(DEFAULT_LINES).clamp(1, MOST_LINES);
    let bytes = args.max_bytes.unwrap_or(DEFAULT_BYTES).clamp(256, MOST_BYTES).min(ALL_BYTES / most.max(1));
    let fetches: Vec<_> = chosen[..most].iter().map(|job| log_of(&hosted, job, lines, bytes)).collect();
    let logs: Vec<FailedLog> = stream::iter(fetches).buffered(AT_ONCE).collect().await;
    let data = Findings {
        run_id: args.run_id,
        total_jobs: all.jobs.len(),
        failed_jobs: failed_count,
        truncated: most < chosen.len() || all.more,
        logs,
    };
    Ok(TextAndData { text: data.text(), data })
}

/// Fetches one log. A failure becomes part of the answer, so the other logs are still shown.
async fn log_of(hosted: &Hosted<'_>, job: &HostedJob, lines: usize, bytes: usize) -> FailedLog {
    let mut shown = FailedLog {
        job_id: job.id.clone(),
        name: job.name.clone(),
        state: job.state,
        url: job.url.clone(),
        failed_at: job.failed_at.clone(),
        log: String::new(),
        size_bytes: 0,
        truncated: false,
        problem: None,
    };
    match hosted.log(&job.id, lines, bytes).await {
        Ok(log) => {
            shown.log = log.text;
            shown.size_bytes = log.size;
            shown.truncated = log.truncated;
        }
        Err(error) => shown.problem = Some(error.text()),
    }
    shown
}

/// Parses a run id; both services use numbers.
pub(super) fn run_number(id: &str) -> Result<u64, ToolError> {
    id.parse().map_err(|_| {
        ToolError::new(format!("{id:?} is not a runId")).hint("Take the id of a run from list_runs.")
    })
}

impl Findings {
    fn text(&self) -> String {
        let mut lines =
            vec![format!("{} of {} jobs of run {} failed", self.failed_jobs, self.total_jobs, self.run_id)];
        for log in &self.logs {
            let place = log.failed_at.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
            lines.push(format!("\n{} {}{place} {}", log.name, log.state.word(), log.url));
            if log.truncated {
                lines.push(format!("[the end of {} bytes]", log.size_bytes));
            }
            lines.push(log.problem.clone().unwrap_or_else(|| log.log.clone()));
        }
        if self.truncated {
            lines.push("\nMore jobs are left out; name one with `jobName`, or raise `maxJobs`.".to_owned());
        }
        lines.join("\n")
    }
}
