//! `git_clone`: clones a remote repository into a root.

use std::{path::Path, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{
    environment::Mode,
    invocation::Invocation,
    pack::{self, Git},
    remote::{check_address, has_password},
    repository::Repository,
    revision::RefName,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Address of the repository, such as `https://host/owner/name.git`.
    url: String,
    /// A new directory; relative ones start at the first open directory.
    path: String,
    /// Only this many of the newest commits.
    #[serde(default)]
    depth: Option<u32>,
    /// The branch to check out.
    #[serde(default)]
    branch: Option<String>,
}

/// The new clone.
#[derive(Debug, Serialize, JsonSchema)]
struct Cloned {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// Missing if the remote is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_clone", run)
        .title("Clone a repository")
        .description("Copies a remote repository into a new directory inside the open ones. Submodules, templates and hooks are left out. For a large one set `depth`: a call may take 30 s.")
        .additive()
        .not_idempotent()
        .open_world()
}

async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<Cloned>, ToolError> {
    check_address(git.options(), &args.url)?;
    if has_password(&args.url) {
        return Err(ToolError::new("the address contains a password, which would be stored in plain text")
            .hint("Leave it out; the operator configures access."));
    }
    let _changing = git.change().await;
    let path = git.new_top(&args.path)?;
    if path.exists() {
        return Err(ToolError::new("there is something at `path` already").hint("Name a new directory."));
    }
    let parent = path.parent().unwrap_or(git.roots().first());
    let deadline = Instant::now() + git.options().deadline;
    let mut command = Invocation::new(&git, Mode::Network, parent, deadline).arg("clone");
    command = command.args([
        "--quiet",
        "--template=",
        "--no-recurse-submodules",
        "--no-local",
        "--upload-pack=git-upload-pack",
    ]);
    if let Some(depth) = args.depth {
        command = command.arg(format!("--depth={}", depth.max(1)));
    }
    if let Some(branch) = &args.branch {
        command = command.arg(format!("--branch={}", RefName::parse(branch)?.as_str()));
    }
    let cleanup = Unfinished(&path);
    command.args(["--end-of-options", &args.url]).arg(&path).ok().await?;
    let repository = Repository::open(&git, &path.display().to_string()).await?;
    let data = Cloned {
        path: path.display().to_string(),
        branch: repository.branch().await?,
        commit: repository.head().await?,
    };
    std::mem::forget(cleanup);
    Ok(TextAndData { text: format!("Cloned into {}", data.path), data })
}

/// Guard: removes an incomplete clone on drop, because git cannot do so when it is killed.
struct Unfinished<'a>(&'a Path);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        match std::fs::remove_dir_all(self.0) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(path = %self.0.display(), %error, "cannot remove an unfinished clone");
            }
            _ => {}
        }
    }
}
