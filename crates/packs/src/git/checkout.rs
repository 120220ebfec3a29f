//! `git_checkout`: switches to a branch, or to a commit without one.

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
    /// A local branch; or a remote branch, tag or commit, which is checked out detached.
    branch_name: String,
}

/// The current checkout.
#[derive(Debug, Serialize, JsonSchema)]
struct CheckedOut {
    /// The branch; missing if HEAD is detached.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    detached: bool,
    commit: String,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_checkout", run)
        .title("Switch branches")
        .description(
            "Switches the working files to a branch, tag or commit. Refused if changes would be overwritten.",
        )
        .additive()
        .idempotent()
        .closed_world()
}

async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<CheckedOut>, ToolError> {
    let revision = Revision::parse(&args.branch_name)?;
    let _changing = git.change().await;
    let repository = Repository::open(&git, &args.repo_path).await?;
    repository.top()?;
    let switch = repository.convert("switch")?.args([
        "--quiet",
        "--no-guess",
        "--no-recurse-submodules",
        "--no-progress",
        "--no-overwrite-ignore",
    ]);
    let branch = RefName::parse(revision.as_str()).ok().map(|name| name.branch());
    let is_branch = match &branch {
        Some(branch) => repository.has(branch).await?,
        None => false,
    };
    // Uses the full name, because a tag of the same name would take precedence.
    let meant = branch.filter(|_| is_branch).map(|branch| Revision::parse(&branch)).transpose()?;
    let commit = repository.commit(meant.as_ref().unwrap_or(&revision)).await?;
    repository.keeps(repository.head().await?.as_deref(), &commit).await?;
    if is_branch {
        switch.args(["--end-of-options", revision.as_str()]).ok().await?;
    } else {
        switch.args(["--detach", &commit]).ok().await?;
    }
    let data = CheckedOut {
        branch: repository.branch().await?,
        detached: !is_branch,
        commit: repository.born_head().await?,
    };
    Ok(TextAndData { text: data.text(), data })
}

impl CheckedOut {
    fn text(&self) -> String {
        match &self.branch {
            Some(branch) => format!("Switched to branch {branch} at {}", self.commit),
            None => format!(
                "HEAD is now detached at {}; make a branch with git_create_branch to keep new commits",
                self.commit
            ),
        }
    }
}
