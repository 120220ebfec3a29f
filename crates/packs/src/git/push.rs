//! `git_push`: pushes a branch to a remote, never with force.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    failure::{self, clean},
    fetch::origin,
    options::Hooks,
    pack::{self, Git},
    remote::Remote,
    repository::Repository,
    revision::RefName,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Directory in the repository, relative to the first open directory, which is the default.
    #[serde(default)]
    repo_path: String,
    /// Name of the remote.
    #[serde(default = "origin")]
    remote: String,
    /// Branch, pushed under the same name; default: the current branch.
    #[serde(default)]
    branch: Option<String>,
    /// Make the remote's branch the upstream of this branch.
    #[serde(default)]
    set_upstream: bool,
}

/// The result of a push.
#[derive(Debug, Serialize, JsonSchema)]
struct Pushed {
    remote: String,
    branch: String,
    /// True if the remote changed.
    updated: bool,
    /// The remote's summary, such as `[new branch]` or `1a2b3c..4d5e6f`.
    summary: String,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_push", run)
        .title("Push a branch")
        .description("Sends a branch to the branch of the same name at a remote. Never by force: if the remote has other commits, it fails and says so.")
        .additive()
        .idempotent()
        .open_world()
}

async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<Pushed>, ToolError> {
    let _changing = git.change().await;
    let repository = Repository::open(&git, &args.repo_path).await?;
    let remote = Remote::find(&repository, &args.remote).await?;
    let branch = branch(&repository, args.branch.as_deref()).await?;
    let reference = branch.branch();
    let mut command = repository.network("push")?;
    command = command.args([
        "--porcelain",
        "--no-signed",
        "--no-recurse-submodules",
        "--no-follow-tags",
        "--receive-pack=git-receive-pack",
    ]);
    if git.options().hooks == Hooks::Off {
        command = command.arg("--no-verify");
    }
    let refspec = format!("{reference}:{reference}");
    let output = command.args(["--end-of-options", remote.as_str(), &refspec]).run().await?;
    let printed = output.raw_text();
    let line = printed.lines().find(|line| line.contains(&refspec)).unwrap_or_default();
    let summary = clean(line.split('\t').nth(2).unwrap_or_default());
    if !output.is_success() {
        return Err(failure::with(&output, &summary));
    }
    if args.set_upstream {
        set_upstream(&repository, &remote, &branch).await?;
    }
    let data = Pushed {
        remote: args.remote,
        branch: branch.as_str().into(),
        updated: !line.starts_with('='),
        summary,
    };
    Ok(TextAndData { text: format!("{} at {}: {}", data.branch, data.remote, data.summary), data })
}

/// Writes the upstream into the repository's own settings; the push itself sees only a copy.
async fn set_upstream(
    repository: &Repository<'_>,
    remote: &Remote,
    branch: &RefName,
) -> Result<(), ToolError> {
    let file = repository.common().real().join("config");
    for (variable, value) in [("remote", remote.as_str()), ("merge", &branch.branch())] {
        let key = format!("branch.{}.{variable}", branch.as_str());
        let command = repository.write("config").arg("--file").arg(&file);
        command.args(["--replace-all", &key, value]).ok().await?;
    }
    Ok(())
}

async fn branch(repository: &Repository<'_>, named: Option<&str>) -> Result<RefName, ToolError> {
    let name = match named {
        Some(name) => name.to_owned(),
        None => repository.branch().await?.ok_or_else(|| {
            ToolError::new("HEAD is detached, so there is no current branch")
                .hint("Name the `branch` to push.")
        })?,
    };
    let name = RefName::parse(&name)?;
    if repository.has(&name.branch()).await? {
        return Ok(name);
    }
    repository.born_head().await?;
    Err(ToolError::new(format!("there is no branch {:?}", name.as_str())).hint("See git_branch."))
}
