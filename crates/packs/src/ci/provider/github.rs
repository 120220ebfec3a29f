//! GitHub Actions.

use serde::Deserialize;

use super::{
    client::{Client, JobLog},
    model::{HostedJob, Jobs, Run, RunState, Runs, Wanted},
    project_name::{ProjectName, encode},
    set::Scope,
};
use trunkline_toolbox::ToolError;

/// Maximum number of items per page.
const PAGE: usize = 100;

#[derive(Debug, Deserialize)]
struct RunPage {
    workflow_runs: Vec<WorkflowRun>,
}

#[derive(Debug, Deserialize)]
struct WorkflowRun {
    id: u64,
    name: Option<String>,
    head_branch: Option<String>,
    #[serde(default)]
    head_sha: String,
    status: Option<String>,
    conclusion: Option<String>,
    #[serde(default)]
    event: String,
    #[serde(default)]
    html_url: String,
    #[serde(default)]
    created_at: String,
    #[serde(default)]
    updated_at: String,
}

#[derive(Debug, Deserialize)]
struct JobPage {
    jobs: Vec<WorkflowJob>,
}

#[derive(Debug, Deserialize)]
struct WorkflowJob {
    id: u64,
    name: String,
    status: Option<String>,
    conclusion: Option<String>,
    html_url: Option<String>,
    #[serde(default)]
    steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
struct Step {
    name: String,
    conclusion: Option<String>,
}

pub(super) async fn runs(
    client: &Client,
    project: &ProjectName,
    branch: Option<&str>,
    wanted: Wanted,
    limit: usize,
) -> Result<Runs, ToolError> {
    let mut url =
        client.url(&format!("/repos/{}/actions/runs?per_page={}", project.as_str(), limit.min(PAGE)));
    if let Some(branch) = branch {
        url.push_str("&branch=");
        url.push_str(&encode(branch));
    }
    match wanted {
        Wanted::Any => {}
        Wanted::Failed => url.push_str("&status=failure"),
        Wanted::Running => url.push_str("&status=in_progress"),
        Wanted::Succeeded => url.push_str("&status=success"),
    }
    let of_page = |page: RunPage| page.workflow_runs.into_iter().map(run_of).collect();
    let (runs, more) = client.list(url, of_page, limit).await?;
    Ok(Runs { runs, more })
}

pub(super) async fn run(client: &Client, project: &ProjectName, id: u64) -> Result<Run, ToolError> {
    let url = client.url(&format!("/repos/{}/actions/runs/{id}", project.as_str()));
    Ok(run_of(client.get(&url).await?.items))
}

pub(super) async fn jobs(client: &Client, project: &ProjectName, run: u64) -> Result<Jobs, ToolError> {
    let path = format!("/repos/{}/actions/runs/{run}/jobs?filter=latest&per_page={PAGE}", project.as_str());
    let of_page = |page: JobPage| page.jobs.into_iter().map(job_of).collect();
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
            &client.url(&format!("/repos/{}/actions/jobs/{}/logs", project.as_str(), encode(job))),
            lines,
            bytes,
        )
        .await
}

pub(super) async fn rerun(
    client: &Client,
    project: &ProjectName,
    run: u64,
    scope: Scope,
) -> Result<(), ToolError> {
    let what = match scope {
        Scope::AllJobs => "rerun",
        Scope::FailedJobs => "rerun-failed-jobs",
    };
    client.post(&client.url(&format!("/repos/{}/actions/runs/{run}/{what}", project.as_str()))).await
}

fn run_of(run: WorkflowRun) -> Run {
    let state = state(run.status.as_deref(), run.conclusion.as_deref());
    Run {
        id: run.id.to_string(),
        name: run.name.unwrap_or_default(),
        state,
        detail: run.conclusion.or(run.status).unwrap_or_default(),
        branch: run.head_branch.unwrap_or_default(),
        commit: run.head_sha,
        event: run.event,
        url: run.html_url,
        created_at: run.created_at,
        updated_at: run.updated_at,
    }
}

fn job_of(job: WorkflowJob) -> HostedJob {
    let failed_at = job
        .steps
        .into_iter()
        .find(|step| step.conclusion.as_deref() == Some("failure"))
        .map(|step| step.name);
    HostedJob {
        id: job.id.to_string(),
        name: job.name,
        state: state(job.status.as_deref(), job.conclusion.as_deref()),
        url: job.html_url.unwrap_or_default(),
        failed_at,
    }
}

fn state(status: Option<&str>, conclusion: Option<&str>) -> RunState {
    match (status, conclusion) {
        (_, Some("success" | "neutral")) => RunState::Succeeded,
        (_, Some("failure" | "timed_out" | "startup_failure" | "action_required" | "stale")) => {
            RunState::Failed
        }
        (_, Some("cancelled")) => RunState::Cancelled,
        (_, Some("skipped")) => RunState::Skipped,
        (Some("in_progress"), _) => RunState::Running,
        (Some("queued" | "requested" | "waiting" | "pending"), _) => RunState::Waiting,
        _ => RunState::Unknown,
    }
}
