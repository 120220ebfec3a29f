//! `run_tests`: runs a project's tests.

use std::sync::Arc;

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
    /// Project directory or manifest, relative to the first open directory (the default).
    project_path: Option<String>,
    /// Kind of project, if the directory has several; see `detect_project`.
    kind: Option<Kind>,
    /// Only tests whose name contains this.
    filter: Option<String>,
}

pub(super) fn tool(ci: &Arc<Ci>) -> Tool {
    let tool = pack::tool(ci, "run_tests", run)
        .title("Run tests")
        .description("Runs a project's tests and tells how many passed, and of each failed one its name, file, line and reason. Failed tests are a result with success false, not an error. If it takes longer than about 25 s, the answer has state running and a jobId: follow it with job_status. The whole log is at job_log.");
    action::running(tool, ci)
}

async fn run(ci: Arc<Ci>, cx: Context, args: Args) -> Result<TextAndData<RunReport>, ToolError> {
    let project = ProjectArgs { project_path: args.project_path, kind: args.kind };
    let order = action::project_order(&ci, Action::RunTests, &project, args.filter.as_deref())?;
    action::run(&ci, &cx, order).await
}
