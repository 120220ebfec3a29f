//! `git_create_branch`: creates a branch without checking it out.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    pack::{self, Git},
    repository::Repository,
    revision::{RefName, Revision},
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Directory in the repository, relative to the first open directory, which is the default.
    #[serde(default)]
    repo_path: String,
    /// Name of the new branch.
    branch_name: String,
    /// Branch, tag or commit to start from; default HEAD.
    #[serde(default)]
    base_branch: Option<String>,
}

/// The new branch.
#[derive(Debug, Serialize, JsonSchema)]
struct Created {
    branch: String,
    commit: String,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_create_branch", run)
        .title("Create a branch")
        .description(
            "Makes a branch at HEAD or at another revision. It is not checked out: that is git_checkout.",
        )
        .additive()
        .not_idempotent()
        .closed_world()
}

async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<Created>, ToolError> {
    let name = RefName::parse(&args.branch_name)?;
    let _changing = git.change().await;
    let repository = Repository::open(&git, &args.repo_path).await?;
    if repository.has(&name.branch()).await? {
        return Err(ToolError::new(format!("there is a branch {:?} already", name.as_str()))
            .hint("Choose another name, or check it out with git_checkout."));
    }
    let commit = match &args.base_branch {
        Some(base) => repository.commit(&Revision::parse(base)?).await?,
        None => repository.born_head().await?,
    };
    repository.write("branch").args(["--no-track", "--end-of-options", name.as_str(), &commit]).ok().await?;
    let text = format!("Created branch {} at {commit}", name.as_str());
    Ok(TextAndData { text, data: Created { branch: name.as_str().into(), commit } })
}
