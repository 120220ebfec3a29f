//! `build`: compiles a project.

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
    let tool = pack::tool(ci, "build", run)
        .title("Build a project")
        .description("Builds a project (cargo, go, dotnet, maven, gradle, npm, pnpm, yarn, python, make) and tells errors and warnings with file and line, and the end of the log. If it takes longer than about 25 s, the answer has state running and a jobId: follow it with job_status. The whole log is at job_log.");
    action::running(tool, ci)
}

async fn run(ci: Arc<Ci>, cx: Context, args: ProjectArgs) -> Result<TextAndData<RunReport>, ToolError> {
    let order = action::project_order(&ci, Action::Build, &args, None)?;
    action::run(&ci, &cx, order).await
}
