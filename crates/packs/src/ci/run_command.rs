//! `run_command`: runs a command that a rule allows.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    action,
    pack::{self, Ci},
    run_report::RunReport,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Context, Tool, ToolError};

/// Maximum number of rules listed in the description.
const RULES_SHOWN: usize = 30;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Args {
    /// Program and arguments, with quotes; no pipes, variables, redirections or wildcards.
    command: String,
    /// Working directory, relative to the first open directory (the default).
    working_directory: Option<String>,
}

pub(super) fn tool(ci: &Arc<Ci>) -> Tool {
    let rules: Vec<_> = ci.commands.iter().take(RULES_SHOWN).map(ToString::to_string).collect();
    let more = if ci.commands.len() > RULES_SHOWN { "; and more" } else { "" };
    let tool = pack::tool(ci, "run_command", run).title("Run a command").description(format!(
        "Runs one of these commands: {}{more}. Tells its status and the end of its log. Other commands are refused. If it takes longer than about 25 s, the answer has state running and a jobId.",
        rules.join("; ")
    ));
    action::running(tool, ci)
}

async fn run(ci: Arc<Ci>, cx: Context, args: Args) -> Result<TextAndData<RunReport>, ToolError> {
    let order = action::command_order(&ci, &args.command, args.working_directory.as_deref())?;
    action::run(&ci, &cx, order).await
}
