//! `git_merge`: merges another branch into the current one, or aborts a merge.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    failure, identity,
    options::Hooks,
    pack::{self, Git},
    repository::Repository,
    revision::Revision,
    state::InProgress,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Directory in the repository, relative to the first open directory, which is the default.
    #[serde(default)]
    repo_path: String,
    /// Action.
    #[serde(default)]
    action: Action,
    /// Branch, tag or commit to merge; required for `merge`.
    #[serde(default)]
    branch: Option<String>,
    /// Fast-forward mode.
    #[serde(default)]
    fast_forward: FastForward,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    /// Merge `branch` into the current branch.
    #[default]
    Merge,
    /// Abort a merge that has conflicts.
    Abort,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FastForward {
    /// Fast-forward if possible.
    #[default]
    Allowed,
    /// Fail if a fast-forward is not possible.
    Only,
    /// Always make a merge commit.
    Never,
}

/// The outcome of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    AlreadyUpToDate,
    FastForward,
    Merged,
    /// Stopped: conflicts must be resolved.
    Conflicts,
    Aborted,
}

/// The result of a merge.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Merged {
    pub(super) outcome: Outcome,
    /// The commit that is checked out now.
    pub(super) commit: String,
    /// Files in conflict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) conflicts: Vec<String>,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_merge", run)
        .title("Merge a branch")
        .description("Merges a branch, tag or commit into the current branch. Conflicts are not an error: they are listed; resolve them, git_add and git_commit, or call again with action `abort`, which discards the resolution.")
        .destructive()
        .idempotent()
        .closed_world()
}

async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<Merged>, ToolError> {
    let _changing = git.change().await;
    let repository = Repository::open(&git, &args.repo_path).await?;
    repository.top()?;
    if args.action == Action::Abort {
        return abort(&repository).await;
    }
    let Some(branch) = &args.branch else {
        return Err(ToolError::new("`branch` is missing").hint("Name the branch to merge."));
    };
    repository.at_rest("another merge")?;
    let before = repository.born_head().await?;
    let commit = repository.commit(&Revision::parse(branch)?).await?;
    let mut command = repository.convert("merge")?;
    command = command.arg(match args.fast_forward {
        FastForward::Allowed => "--ff",
        FastForward::Only => "--ff-only",
        FastForward::Never => "--no-ff",
    });
    for (key, value) in identity::settings(&repository).await? {
        command = command.setting(key, value);
    }
    command = command.arg(format!("--message=Merge {branch}"));
    let data = join(&repository, command, &before, &commit).await?;
    Ok(TextAndData { text: data.text(), data })
}

/// Adds the switches to the merge `command`, runs it, and returns the result.
pub(super) async fn join(
    repository: &Repository<'_>,
    command: super::invocation::Invocation<'_>,
    before: &str,
    commit: &str,
) -> Result<Merged, ToolError> {
    repository.keeps_in_merge(before, commit).await?;
    let mut command = command.args([
        "--no-edit",
        "--no-stat",
        "--no-gpg-sign",
        "--no-verify-signatures",
        "--no-autostash",
        "--no-overwrite-ignore",
        "--strategy=ort",
    ]);
    if repository.git().options().hooks == Hooks::Off {
        command = command.arg("--no-verify");
    }
    let output = command.args(["--end-of-options", commit]).run().await?;
    let conflicts = conflicts(repository).await?;
    if !output.is_success() && (conflicts.is_empty() || repository.in_progress() != Some(InProgress::Merge)) {
        return Err(failure::of(&output));
    }
    let after = repository.born_head().await?;
    let outcome = if !conflicts.is_empty() {
        Outcome::Conflicts
    } else if after == before {
        Outcome::AlreadyUpToDate
    } else if after == commit {
        Outcome::FastForward
    } else {
        Outcome::Merged
    };
    Ok(Merged { outcome, commit: after, conflicts })
}

async fn abort(repository: &Repository<'_>) -> Result<TextAndData<Merged>, ToolError> {
    if repository.in_progress() != Some(InProgress::Merge) {
        return Err(
            ToolError::new("no merge is in progress").hint("There is nothing to abort; see git_status.")
        );
    }
    repository.without_autostash()?;
    repository.keeps_in_abort().await?;
    repository.convert("merge")?.arg("--abort").ok().await?;
    let commit = repository.born_head().await?;
    let data = Merged { outcome: Outcome::Aborted, commit, conflicts: Vec::new() };
    Ok(TextAndData { text: data.text(), data })
}

/// Files in conflict.
pub(super) async fn conflicts(repository: &Repository<'_>) -> Result<Vec<String>, ToolError> {
    let args = ["--name-only", "--diff-filter=U", "-z", "--"];
    Ok(repository.read("diff").args(super::diff::switches()).args(args).ok().await?.fields())
}

impl Merged {
    pub(super) fn text(&self) -> String {
        match self.outcome {
            Outcome::AlreadyUpToDate => "Already up to date".into(),
            Outcome::FastForward => format!("Fast-forwarded to {}", self.commit),
            Outcome::Merged => format!("Merged as {}", self.commit),
            Outcome::Aborted => format!("The merge was given up; HEAD is at {}", self.commit),
            Outcome::Conflicts => failure::clean(&format!(
                "Conflicts in:\n{}\nResolve them, git_add and git_commit; or call git_merge with action abort.",
                self.conflicts.join("\n")
            )),
        }
    }
}
