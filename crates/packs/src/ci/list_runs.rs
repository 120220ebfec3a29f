//! `list_runs`: the latest runs at a hosted service.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    pack::{self, Ci},
    provider::{ProviderKind, Run, Wanted},
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Context, Tool, ToolError};

/// Default number of runs in an answer; below: the maximum.
const DEFAULT_RUNS: usize = 20;
const MOST_RUNS: usize = 200;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Args {
    /// Required if several providers are configured.
    provider: Option<ProviderKind>,
    /// Like owner/name; default: the first configured project.
    project: Option<String>,
    /// Only runs of this branch.
    branch: Option<String>,
    /// Only runs in this state.
    #[serde(default)]
    state: Wanted,
    /// Maximum number of runs, 1 to 200; default 20.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunList {
    /// Newest first.
    runs: Vec<Run>,
    /// True if there are more than listed.
    truncated: bool,
}

pub(super) fn tool(ci: &Arc<Ci>) -> Tool {
    pack::tool(ci, "list_runs", run)
        .title("List runs")
        .description("Lists runs of GitHub Actions or GitLab pipelines, newest first, with state, branch and commit. Use failed_job_logs to see why one failed.")
        .read_only()
        .idempotent()
        .open_world()
}

async fn run(ci: Arc<Ci>, _cx: Context, args: Args) -> Result<TextAndData<RunList>, ToolError> {
    let hosted = ci.providers.choose(args.provider, args.project.as_deref())?;
    let limit = args.limit.unwrap_or(DEFAULT_RUNS).clamp(1, MOST_RUNS);
    let found = hosted.runs(args.branch.as_deref(), args.state, limit).await?;
    let mut lines: Vec<_> = found.runs.iter().map(Run::line).collect();
    if lines.is_empty() {
        lines.push("No runs".to_owned());
    }
    if found.more {
        lines.push("… and more; raise `limit`".to_owned());
    }
    Ok(TextAndData { text: lines.join("\n"), data: RunList { runs: found.runs, truncated: found.more } })
}
