//! `git_status`: shows the changes since the last commit, and HEAD.

use std::{fmt::Write as _, sync::Arc};

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    arguments::RepositoryOnly,
    failure::clean,
    pack::{self, Git},
    parse::{self, StatusEntry},
    repository::Repository,
    state::InProgress,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

/// Maximum number of entries in an answer.
const MOST_ENTRIES: usize = 1000;

/// The changes since the last commit, and HEAD.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Status {
    /// Top directory of the repository.
    pub(super) repository: String,
    /// The branch; missing if HEAD is detached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) branch: Option<String>,
    pub(super) detached: bool,
    /// The commit; missing before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) upstream: Option<String>,
    /// Number of commits that the upstream lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ahead: Option<u64>,
    /// Number of commits that only the upstream has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) behind: Option<u64>,
    /// Unfinished operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) in_progress: Option<InProgress>,
    pub(super) clean: bool,
    pub(super) entries: Vec<StatusEntry>,
    /// True if there are more entries than shown.
    pub(super) truncated: bool,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_status", run)
        .title("Show the status of a repository")
        .description("Shows the branch, its upstream, what is staged, changed, untracked or in conflict, and an unfinished merge or rebase. At most 1000 entries.")
        .read_only()
        .idempotent()
        .closed_world()
}

pub(super) async fn run(git: Arc<Git>, args: RepositoryOnly) -> Result<TextAndData<Status>, ToolError> {
    let repository = Repository::open(&git, &args.repo_path).await?;
    let data = of(&repository).await?;
    Ok(TextAndData { text: data.text(), data })
}

/// The status of an open repository.
pub(super) async fn of(repository: &Repository<'_>) -> Result<Status, ToolError> {
    repository.top()?;
    repository.enclose_nested()?;
    let args = [
        "--porcelain=v2",
        "--branch",
        "-z",
        "--untracked-files=all",
        "--ignore-submodules=dirty",
        "--ahead-behind",
    ];
    let output = repository.read("status").args(args).ok().await?;
    let (head, mut entries) = parse::status(output.fields());
    let truncated = output.truncated() || entries.len() > MOST_ENTRIES;
    let clean = entries.is_empty() && !truncated;
    entries.truncate(MOST_ENTRIES);
    Ok(Status {
        repository: repository.name(),
        detached: head.branch.is_none(),
        branch: head.branch,
        commit: head.commit,
        upstream: head.upstream,
        ahead: head.ahead,
        behind: head.behind,
        in_progress: repository.in_progress(),
        clean,
        entries,
        truncated,
    })
}

impl Status {
    fn text(&self) -> String {
        let mut text = match (&self.branch, &self.commit) {
            (Some(branch), Some(_)) => format!("On branch {branch}"),
            (Some(branch), None) => format!("On branch {branch}, which has no commit yet"),
            (None, commit) => format!("HEAD is detached at {}", commit.as_deref().unwrap_or("no commit")),
        };
        let mut line = |line: String| write!(text, "\n{line}").expect("writing to a string does not fail");
        if let (Some(upstream), Some(ahead), Some(behind)) = (&self.upstream, self.ahead, self.behind) {
            line(format!("{ahead} ahead of and {behind} behind {upstream}"));
        }
        if let Some(state) = self.in_progress {
            line(format!("A {} is in progress", state.name()));
        }
        if self.clean {
            line("Nothing to commit, no untracked files".into());
        }
        for entry in &self.entries {
            let from = entry.original_path.as_ref().map(|path| format!(" (from {path})")).unwrap_or_default();
            line(clean(&format!(
                "{}{} {}{from}",
                entry.staged.letter(),
                entry.unstaged.letter(),
                entry.path
            )));
        }
        if self.truncated {
            line("… and more".into());
        }
        text
    }
}
