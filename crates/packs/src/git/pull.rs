//! `git_pull`: fetches the upstream of the current branch and fast-forwards to it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    arguments::RepositoryOnly,
    fetch::fetch,
    merge::{Merged, join},
    pack::{self, Git},
    remote::Remote,
    repository::Repository,
    revision::Revision,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

/// The result of a pull.
#[derive(Debug, Serialize, JsonSchema)]
struct Pulled {
    /// The branch's upstream, such as `refs/remotes/origin/main`.
    upstream: String,
    #[serde(flatten)]
    merged: Merged,
}

/// The upstream of a branch.
struct Upstream {
    tracking: String,
    remote: String,
    branch: String,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_pull", run)
        .title("Pull the upstream, fast-forward only")
        .description("Fetches the upstream of the current branch and moves the branch and its files forward to it. If the two have diverged, nothing is merged and the answer says so.")
        .additive()
        .idempotent()
        .open_world()
}

async fn run(git: Arc<Git>, args: RepositoryOnly) -> Result<TextAndData<Pulled>, ToolError> {
    let _changing = git.change().await;
    let repository = Repository::open(&git, &args.repo_path).await?;
    repository.top()?;
    repository.at_rest("a pull")?;
    let before = repository.born_head().await?;
    let upstream = upstream(&repository).await?;
    let remote = Remote::find(&repository, &upstream.remote).await?;
    // Built before the fetch, so that a refused merge does not fetch anything.
    let command = repository.convert("merge")?.arg("--ff-only");
    fetch(&repository, &remote, &format!("+{}:{}", upstream.branch, upstream.tracking), None).await?;
    let commit = repository.commit(&Revision::parse(&upstream.tracking)?).await?;
    let merged = join(&repository, command, &before, &commit).await?;
    let text = merged.text();
    Ok(TextAndData { text, data: Pulled { upstream: upstream.tracking, merged } })
}

async fn upstream(repository: &Repository<'_>) -> Result<Upstream, ToolError> {
    let Some(branch) = repository.branch().await? else {
        return Err(ToolError::new("HEAD is detached, so there is no branch to pull")
            .hint("Switch to a branch with git_checkout."));
    };
    let format = "--format=%(upstream)%00%(upstream:remotename)%00%(upstream:remoteref)";
    let text =
        repository.read("for-each-ref").args([format, &format!("refs/heads/{branch}")]).ok().await?.text();
    let fields: Vec<_> = text.split('\0').map(ToOwned::to_owned).collect();
    match &fields[..] {
        // Other forms would let settings choose the reference that is overwritten.
        [tracking, remote, from]
            if tracking.starts_with("refs/remotes/") && from.starts_with("refs/heads/") =>
        {
            Ok(Upstream { tracking: tracking.clone(), remote: remote.clone(), branch: from.clone() })
        }
        _ => Err(ToolError::new(format!("branch {branch:?} has no upstream"))
            .hint("Push it with git_push and `set_upstream`, or use git_fetch and git_merge.")),
    }
}
