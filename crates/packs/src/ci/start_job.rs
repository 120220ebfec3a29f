//! `start_job`: starts a long-running job and returns at once.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    action::{self, ProjectArgs},
    pack::{self, Ci},
    project::{Action, Kind},
    run_report::RunReport,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Context, Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Args {
    /// Action. `command` runs the line in `command`, under the rules of `run_command`.
    action: Work,
    /// Project or working directory, relative to the first open directory (the default).
    project_path: Option<String>,
    /// Kind of project, if the directory has several.
    kind: Option<Kind>,
    /// Only tests whose name contains this.
    filter: Option<String>,
    /// The command line, only with the action `command`.
    command: Option<String>,
    /// Seconds after which the job is killed; default and maximum: the operator's limit.
    #[schemars(range(min = 1, max = 86400))]
    timeout_seconds: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Work {
    Build,
    RunTests,
    Lint,
    Restore,
    Command,
}

pub(super) fn tool(ci: &Arc<Ci>) -> Tool {
    pack::tool(ci, "start_job", run)
        .title("Start a job")
        .description("Starts a build, tests, a linter, a restore or a command in the background and answers at once with a jobId. Follow it with job_status (which can wait), read its log with job_log, end it with cancel_job. The number of running jobs is limited; ended ones are remembered for about 15 minutes.")
        .destructive()
        .not_idempotent()
        .open_world()
}

async fn run(ci: Arc<Ci>, cx: Context, args: Args) -> Result<TextAndData<RunReport>, ToolError> {
    let action = match args.action {
        Work::Build => Some(Action::Build),
        Work::RunTests => Some(Action::RunTests),
        Work::Lint => Some(Action::Lint),
        Work::Restore => Some(Action::Restore),
        Work::Command => None,
    };
    let mut order = match (action, &args.command) {
        (Some(action), None) => {
            let project = ProjectArgs { project_path: args.project_path, kind: args.kind };
            action::project_order(&ci, action, &project, args.filter.as_deref())?
        }
        (None, Some(command)) => action::command_order(&ci, command, args.project_path.as_deref())?,
        (None, None) => {
            return Err(ToolError::new("the action command needs `command`").hint("Say which line to run."));
        }
        (Some(_), Some(_)) => {
            return Err(ToolError::new("`command` goes only with the action command")
                .hint("Leave `command` out, or choose the action command."));
        }
    };
    order.deadline = args.timeout_seconds.map(Duration::from_secs);
    let job = ci.jobs.start(&cx.caller().id, order, &ci.environment, &ci.limits)?;
    Ok(action::current_report(&ci, &job))
}
