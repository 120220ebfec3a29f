//! `git_stash`: stashes changes and restores them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments::RepositoryOnly,
    failure::{self, clean},
    guarded::Untracked,
    identity,
    merge::conflicts,
    pack::{self, Git},
    repository::Repository,
    revision::plain,
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
    /// For `push`: message.
    #[serde(default)]
    message: Option<String>,
    /// For `push`: include untracked files.
    #[serde(default)]
    include_untracked: bool,
    /// For `apply`, `pop` and `drop`: index of the entry, 0 for the newest.
    #[serde(default)]
    index: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    /// List the entries.
    #[default]
    List,
    /// Stash all changes.
    Push,
    /// Restore changes and keep the entry.
    Apply,
    /// Restore changes and remove the entry.
    Pop,
    /// Remove an entry; its changes are lost.
    Drop,
}

/// The stash.
#[derive(Debug, Serialize, JsonSchema)]
struct Stash {
    entries: Vec<StashEntry>,
    /// Files in conflict after a restore; the entry was kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct StashEntry {
    index: u32,
    commit: String,
    /// ISO 8601.
    date: String,
    message: String,
}

/// The read-only variant of the tool.
pub(super) fn list_tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_stash", list)
        .title("List stashed changes")
        .description("Shows the changes that were put aside, newest first.")
        .read_only()
        .idempotent()
        .closed_world()
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_stash", run)
        .title("Stash changes")
        .description("Puts all changes aside (push), takes them back (apply, pop), removes an entry for good (drop), or lists them.")
        .destructive()
        .not_idempotent()
        .closed_world()
}

async fn list(git: Arc<Git>, args: RepositoryOnly) -> Result<TextAndData<Stash>, ToolError> {
    let repository = Repository::open(&git, &args.repo_path).await?;
    answer(&repository, Vec::new()).await
}

async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<Stash>, ToolError> {
    let _changing = git.change().await;
    let repository = Repository::open(&git, &args.repo_path).await?;
    match args.action {
        Action::List => answer(&repository, Vec::new()).await,
        Action::Push => push(&repository, &args).await,
        Action::Apply => restore(&repository, "apply", args.index).await,
        Action::Pop => restore(&repository, "pop", args.index).await,
        Action::Drop => {
            let entry = entry(&repository, args.index).await?;
            repository.write("stash").args(["drop", "--quiet", &entry]).ok().await?;
            answer(&repository, Vec::new()).await
        }
    }
}

async fn push(repository: &Repository<'_>, args: &Args) -> Result<TextAndData<Stash>, ToolError> {
    repository.top()?;
    repository.at_rest("a stash")?;
    repository.born_head().await?;
    let untracked = if args.include_untracked { Untracked::Stashed } else { Untracked::Left };
    repository.keeps_unsaved(untracked).await?;
    let before = entries(repository).await?.len();
    let mut command = repository.convert("stash")?.args(["push", "--quiet"]);
    // `git stash` internally uses a pathspec with magic, which literal mode would break. No
    // pathspec comes from the caller.
    command = command.variable("GIT_LITERAL_PATHSPECS", "0");
    if let Some(message) = &args.message {
        plain("message", message)?;
        command = command.arg(format!("--message={message}"));
    }
    command = command.args(args.include_untracked.then_some("--include-untracked"));
    for (key, value) in identity::settings(repository).await? {
        command = command.setting(key, value);
    }
    command.ok().await?;
    if entries(repository).await?.len() == before {
        return Err(ToolError::new("there are no changes to put aside")
            .hint("See git_status; for untracked files set `include_untracked`."));
    }
    answer(repository, Vec::new()).await
}

async fn restore(
    repository: &Repository<'_>,
    how: &str,
    index: u32,
) -> Result<TextAndData<Stash>, ToolError> {
    repository.top()?;
    let entry = entry(repository, index).await?;
    let mut command = repository.convert("stash")?;
    if repository.keeps_in_restore(&entry).await? {
        command = command.setting("merge.renames", "false").setting("merge.directoryRenames", "false");
    }
    let output = command.args([how, "--quiet", &entry]).run().await?;
    let conflicts = conflicts(repository).await?;
    if !output.is_success() && conflicts.is_empty() {
        return Err(failure::of(&output));
    }
    answer(repository, conflicts).await
}

/// The name of an entry that exists.
async fn entry(repository: &Repository<'_>, index: u32) -> Result<String, ToolError> {
    let count = entries(repository).await?.len();
    if (index as usize) < count {
        return Ok(format!("stash@{{{index}}}"));
    }
    Err(ToolError::new(format!("there is no stash entry {index}; there are {count}"))
        .hint("See action `list`."))
}

async fn entries(repository: &Repository<'_>) -> Result<Vec<StashEntry>, ToolError> {
    if !repository.has("refs/stash").await? {
        return Ok(Vec::new());
    }
    let args = [
        "--walk-reflogs",
        "--no-show-signature",
        "-z",
        "--format=tformat:%H%x00%cI%x00%gs",
        "refs/stash",
        "--",
    ];
    let fields = repository.read("log").args(args).ok().await?.fields();
    let entry = |(index, fields): (usize, &[String])| StashEntry {
        index: u32::try_from(index).unwrap_or(u32::MAX),
        commit: fields[0].clone(),
        date: fields[1].clone(),
        message: fields[2].clone(),
    };
    Ok(fields.chunks_exact(3).enumerate().map(entry).collect())
}

async fn answer(
    repository: &Repository<'_>,
    conflicts: Vec<String>,
) -> Result<TextAndData<Stash>, ToolError> {
    let data = Stash { entries: entries(repository).await?, conflicts };
    Ok(TextAndData { text: data.text(), data })
}

impl Stash {
    fn text(&self) -> String {
        let mut lines: Vec<_> = self
            .entries
            .iter()
            .map(|entry| format!("{}: {} {}", entry.index, entry.date, entry.message))
            .collect();
        if lines.is_empty() {
            lines.push("Nothing is put aside".into());
        }
        if !self.conflicts.is_empty() {
            lines.push(format!("Conflicts, the entry was kept: {}", self.conflicts.join(", ")));
        }
        clean(&lines.join("\n"))
    }
}
