//! Shared code of `build`, `run_tests`, `lint`, `restore` and `run_command`: each starts a job and
//! waits for it.

use std::{path::Path, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use tempfile::TempDir;

use super::{
    command::Approved,
    job::{Job, JobGuard, Order},
    pack::Ci,
    project::{self, Action, Kind},
    report::Reading,
    run_report::RunReport,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Context, Limits, TaskMode, Tool, ToolError};

/// Time that a call may take in addition to `patience`, to start the program and read its output.
const MARGIN: Duration = Duration::from_secs(5);

/// Selects a project.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ProjectArgs {
    /// Project directory or manifest, relative to the first open directory (the default).
    pub(super) project_path: Option<String>,
    /// Kind of project, if the directory has several; see `detect_project`.
    pub(super) kind: Option<Kind>,
}

/// Builds the order for an action on a project.
pub(super) fn project_order(
    ci: &Ci,
    action: Action,
    args: &ProjectArgs,
    filter: Option<&str>,
) -> Result<Order, ToolError> {
    if let Some(filter) = filter {
        project::check_filter(filter)?;
    }
    let project = project::choose(&ci.roots, args.project_path.as_deref(), args.kind)?;
    let scratch = scratch()?;
    let plan = project.plan(action, filter, scratch.path())?;
    Ok(Order {
        program: plan.runner.find(&project.directory, &ci.environment, &ci.roots)?,
        line: plan.line(&project.directory),
        args: plan.args,
        reading: Reading::Project(project.kind, action),
        directory: project.directory,
        scratch,
        reports: plan.reports,
        deadline: None,
    })
}

/// Builds the order for a command line given by the caller.
pub(super) fn command_order(ci: &Ci, command: &str, directory: Option<&str>) -> Result<Order, ToolError> {
    let directory = ci.roots.directory(directory)?;
    let approved = Approved::new(command, &directory, &ci.commands, &ci.roots, &ci.environment)?;
    Ok(Order {
        program: approved.program,
        args: approved.words[1..].to_vec(),
        line: command.trim().to_owned(),
        reading: Reading::Command,
        directory,
        scratch: scratch()?,
        reports: None,
        deadline: None,
    })
}

/// Starts a job and waits for it: up to `patience`, or until it ends if the caller supports tasks.
pub(super) async fn run(ci: &Ci, cx: &Context, order: Order) -> Result<TextAndData<RunReport>, ToolError> {
    cx.progress(0, None, format!("running {}", order.line));
    let job = ci.jobs.start(&cx.caller().id, order, &ci.environment, &ci.limits)?;
    let guard = JobGuard::new(Arc::clone(&job));
    let mut done = job.wait(ci.limits.patience).await;
    if done.is_none() && cx.become_task().await {
        done = job.wait(ci.limits.deadline + MARGIN).await;
    }
    guard.detach();
    Ok(RunReport::answer(&job, done.as_deref(), ci.roots.first()))
}

/// The current report of a job.
pub(super) fn current_report(ci: &Ci, job: &Job) -> TextAndData<RunReport> {
    RunReport::answer(job, job.done().as_deref(), ci.roots.first())
}

/// Sets the hints and limits of all tools that run a project's code, which can do anything.
pub(super) fn running(tool: Tool, ci: &Ci) -> Tool {
    let limits = Limits {
        deadline: ci.limits.patience + MARGIN,
        task_deadline: ci.limits.deadline + 2 * MARGIN,
        ..Limits::default()
    };
    tool.destructive().not_idempotent().open_world().limits(limits).task(TaskMode::OnDemand)
}

fn scratch() -> Result<TempDir, ToolError> {
    TempDir::with_prefix("trunkline-ci-").map_err(|error| {
        ToolError::new("no temporary directory could be made")
            .hint("Ask the operator to look at the log; the disk may be full.")
            .detail(error.to_string())
    })
}

/// `path` relative to `root`, or unchanged if it is outside.
pub(super) fn shown(path: &Path, root: &Path) -> String {
    match path.strip_prefix(root) {
        Ok(relative) if relative.as_os_str().is_empty() => ".".to_owned(),
        Ok(relative) => relative.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}
