//! GitLab pipelines.

use serde::Deserialize;

use super::{
    client::{Client, JobLog},
    model::{HostedJob, Jobs, Run, RunState, Runs, Wanted},
    project_name::{ProjectName, encode},
};
use trunkline_toolbox::ToolError;

/// Maximum number of items per page.
const PAGE: usize = 100;

#[derive(Debug, Deserialize)]
struct Pipeline {
    id: u64,
    name: Option<String>,
    status: String,
    #[serde(rename = "ref")]
    branch: Option<String>,
    #[serde(default)]
    sha: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    web_url: String,
    #[serde(default)]
    created_at: String,
    updated_at: Option<String>,
}

#[derive(Debug, Deserialize)]
struct PipelineJob {
    id: u64,
    name: String,
    status: String,
    stage: Option<String>,
    failure_reason: Option<String>,
    #[serde(default)]
    allow_failure: bool,
    web_url: Option<String>,
}

pub(super) async fn runs(
    client: &Client,
    project: &ProjectName,
    branch: Option<&str>,
    wanted: Wanted,
    limit: usize,
) -> Result<Runs, ToolError> {
    let mut url =
        client.url(&format!("/projects/{}/pipelines?per_page={}", project.encoded(), limit.min(PAGE)));
    if let Some(branch) = branch {
        url.push_str("&ref=");
        url.push_str(&encode(branch));
    }
    match wanted {
        Wanted::Any => {}
        Wanted::Failed => url.push_str("&status=failed"),
        Wanted::Running => url.push_str("&status=running"),
        Wanted::Succeeded => url.push_str("&status=success"),
    }
    let of_page = |pipelines: Vec<Pipeline>| pipelines.into_iter().map(run_of).collect();
    let (runs, more) = client.list(url, of_page, limit).await?;
    Ok(Runs { runs, more })
}

pub(super) async fn run(client: &Client, project: &ProjectName, id: u64) -> Result<Run, ToolError> {
    let url = client.url(&format!("/projects/{}/pipelines/{id}", project.encoded()));
    Ok(run_of(client.get(&url).await?.items))
}

pub(super) async fn jobs(client: &Client, project: &ProjectName, run: u64) -> Result<Jobs, ToolError> {
    let path = format!("/projects/{}/pipelines/{run}/jobs?per_page={PAGE}", project.encoded());
    let of_page = |jobs: Vec<PipelineJob>| jobs.into_iter().map(job_of).collect();
    let (jobs, more) = client.list(client.url(&path), of_page, usize::MAX).await?;
    Ok(Jobs { jobs, more })
}

pub(super) async fn log(
    client: &Client,
    project: &ProjectName,
    job: &str,
    lines: usize,
    bytes: usize,
) -> Result<JobLog, ToolError> {
    client
        .log(
            &client.url(&format!("/projects/{}/jobs/{}/trace", project.encoded(), encode(job))),
            lines,
            bytes,
        )
        .await
}

/// Retries only failed and cancelled jobs; GitLab cannot rerun a whole pipeline.
pub(super) async fn retry(client: &Client, project: &ProjectName, run: u64) -> Result<(), ToolError> {
    client.post(&client.url(&format!("/projects/{}/pipelines/{run}/retry", project.encoded()))).await
}

fn run_of(pipeline: Pipeline) -> Run {
    Run {
        id: pipeline.id.to_string(),
        name: pipeline.name.unwrap_or_else(|| format!("pipeline {}", pipeline.id)),
        state: state(&pipeline.status),
        detail: pipeline.status,
        branch: pipeline.branch.unwrap_or_default(),
        commit: pipeline.sha,
        event: pipeline.source,
        url: pipeline.web_url,
        updated_at: pipeline.updated_at.unwrap_or_else(|| pipeline.created_at.clone()),
        created_at: pipeline.created_at,
    }
}

fn job_of(job: PipelineJob) -> HostedJob {
    let stage = job.stage.map(|stage| format!("stage {stage}"));
    let allowed = job.allow_failure.then(|| "allowed to fail".to_owned());
    let reasons: Vec<_> = [stage, job.failure_reason, allowed].into_iter().flatten().collect();
    HostedJob {
        id: job.id.to_string(),
        name: job.name,
        state: state(&job.status),
        url: job.web_url.unwrap_or_default(),
        failed_at: (!reasons.is_empty()).then(|| reasons.join(", ")),
    }
}

fn state(status: &str) -> RunState {
    match status {
        "success" => RunState::Succeeded,
        "failed" => RunState::Failed,
        "canceled" | "canceling" => RunState::Cancelled,
        "skipped" | "manual" => RunState::Skipped,
        "running" => RunState::Running,
        "created" | "waiting_for_resource" | "preparing" | "pending" | "scheduled" => RunState::Waiting,
        _ => RunState::Unknown,
    }
}
