//! `list_jobs`: the caller's jobs.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    action::shown,
    job::{Job, Outcome},
    pack::{self, Ci},
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Context, Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct JobList {
    /// Newest first.
    jobs: Vec<JobLine>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct JobLine {
    job_id: String,
    command: String,
    directory: String,
    /// Missing while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    duration_ms: u64,
}

pub(super) fn tool(ci: &Arc<Ci>) -> Tool {
    pack::tool(ci, "list_jobs", run)
        .title("List jobs")
        .description("Lists your jobs, running ones and those that ended not long ago.")
        .read_only()
        .idempotent()
        .closed_world()
}

async fn run(ci: Arc<Ci>, cx: Context, _args: Args) -> Result<TextAndData<JobList>, ToolError> {
    let line = |job: &Arc<Job>| JobLine {
        job_id: job.id.clone(),
        command: job.line.clone(),
        directory: shown(job.directory.path(), ci.roots.first()),
        outcome: job.done().map(|done| done.outcome()),
        duration_ms: u64::try_from(job.elapsed().as_millis()).unwrap_or(u64::MAX),
    };
    let jobs: Vec<JobLine> = ci.jobs.of(&cx.caller().id).iter().map(line).collect();
    let lines = jobs.iter().map(|job| {
        let state = job.outcome.map_or("running".to_owned(), |outcome| format!("{outcome:?}"));
        format!("{} {state} {} ms: {} in {}", job.job_id, job.duration_ms, job.command, job.directory)
    });
    let text = if jobs.is_empty() { "No jobs".to_owned() } else { lines.collect::<Vec<_>>().join("\n") };
    Ok(TextAndData { text, data: JobList { jobs } })
}
