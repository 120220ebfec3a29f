//! `git_init`: creates a repository inside a root.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{
    environment::Mode,
    invocation::Invocation,
    pack::{self, Git},
    revision::RefName,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Directory, created if missing; relative paths start at the first open directory.
    path: String,
    /// Name of the first branch.
    #[serde(default = "main_branch")]
    initial_branch: String,
}

/// The new repository.
#[derive(Debug, Serialize, JsonSchema)]
struct Made {
    path: String,
    branch: String,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_init", run)
        .title("Make a repository")
        .description("Makes an empty repository in a directory inside the open ones. No template is used, so it has no hooks.")
        .additive()
        .not_idempotent()
        .closed_world()
}

async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<Made>, ToolError> {
    let branch = RefName::parse(&args.initial_branch)?;
    let _changing = git.change().await;
    let path = git.new_top(&args.path)?;
    if path.join(".git").symlink_metadata().is_ok() {
        return Err(ToolError::new("there is a repository here already").hint("Use it; see git_status."));
    }
    let deadline = Instant::now() + git.options().deadline;
    let parent = path.parent().unwrap_or(git.roots().first());
    let initial = format!("--initial-branch={}", branch.as_str());
    let command = Invocation::new(&git, Mode::Write, parent, deadline);
    command.args(["init", "--quiet", "--template=", &initial, "--"]).arg(&path).ok().await?;
    let data = Made { path: path.display().to_string(), branch: branch.as_str().into() };
    Ok(TextAndData { text: format!("Made an empty repository in {}", data.path), data })
}

fn main_branch() -> String {
    "main".into()
}
