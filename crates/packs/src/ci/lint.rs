//! `lint`: runs a project's linter.

use std::sync::Arc;

use super::{
    action::{self, ProjectArgs},
    pack::{self, Ci},
    project::Action,
    run_report::RunReport,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Context, Tool, ToolError};

pub(super) fn tool(ci: &Arc<Ci>) -> Tool {
    let tool = pack::tool(ci, "lint", run)
        .title("Lint a project")
        .description("Runs a project's linter (clippy, go vet, dotnet format, eslint or the script lint, ruff or flake8, checkstyle, the target lint) and tells what it found with file and line. If it takes longer than about 25 s, the answer has state running and a jobId: follow it with job_status. The whole log is at job_log.");
    action::running(tool, ci)
}

async fn run(ci: Arc<Ci>, cx: Context, args: ProjectArgs) -> Result<TextAndData<RunReport>, ToolError> {
    let order = action::project_order(&ci, Action::Lint, &args, None)?;
    action::run(&ci, &cx, order).await
}
