//! `git_log`: lists commits, newest first.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    answer::Commit,
    arguments::tracked,
    pack::{self, Git},
    parse::{COMMIT_FORMAT, commits},
    repository::Repository,
    revision::{Revision, plain},
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

/// Maximum number of commits in an answer.
const MOST_COMMITS: i64 = 500;

/// Maximum size of the commits in an answer, in bytes.
const LOG_LIMIT: usize = 192 * 1024;

/// Switches of every log: no program runs, and the output format is fixed.
pub(super) const SWITCHES: [&str; 6] =
    ["--no-show-signature", "--no-notes", "--no-color", "--no-mailmap", "-z", COMMIT_FORMAT];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Directory in the repository, relative to the first open directory, which is the default.
    #[serde(default)]
    pub(super) repo_path: String,
    /// Number of commits, 1 to 500.
    #[serde(default = "default_count")]
    pub(super) max_count: i64,
    /// Only commits after this, such as `2026-01-31`, `2026-01-31T10:00:00` or `2 weeks ago`.
    #[serde(default)]
    pub(super) start_timestamp: Option<String>,
    /// Only commits before this.
    #[serde(default)]
    pub(super) end_timestamp: Option<String>,
    /// Branch, tag or commit to start from; default HEAD.
    #[serde(default)]
    pub(super) revision: Option<String>,
    /// Only commits that changed this file or directory.
    #[serde(default)]
    pub(super) path: Option<String>,
}

/// Commits, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Log {
    pub(super) commits: Vec<Commit>,
    /// True if there are more than listed.
    pub(super) truncated: bool,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_log", run)
        .title("Show commits")
        .description("Lists commits with author, dates, message, parents, branches and tags, newest first. At most 500 commits or 192 KiB; go on from the last one with `revision`.")
        .read_only()
        .idempotent()
        .closed_world()
}

pub(super) async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<Log>, ToolError> {
    let repository = Repository::open(&git, &args.repo_path).await?;
    let start = match &args.revision {
        Some(revision) => repository.commit(&Revision::parse(revision)?).await?,
        None => repository.born_head().await?,
    };
    let count = args.max_count.clamp(1, MOST_COMMITS);
    let mut command = repository.read("log").args(SWITCHES).arg(format!("--max-count={}", count + 1));
    for (option, time) in [("--since", &args.start_timestamp), ("--until", &args.end_timestamp)] {
        if let Some(time) = time {
            plain("time", time)?;
            command = command.arg(format!("{option}={time}"));
        }
    }
    let path = args.path.as_deref().map(tracked).transpose()?;
    let output =
        command.args(["--end-of-options", &start, "--"]).args(path).output_limit(LOG_LIMIT).ok().await?;
    let mut found = commits(&output.fields());
    let count = usize::try_from(count).expect("clamped to a small positive number");
    let data = Log {
        truncated: output.truncated() || found.len() > count,
        commits: {
            found.truncate(count);
            found
        },
    };
    Ok(TextAndData { text: data.text(), data })
}

fn default_count() -> i64 {
    10
}

impl Log {
    fn text(&self) -> String {
        if self.commits.is_empty() {
            return "No commits".into();
        }
        let mut lines: Vec<_> = self.commits.iter().map(Commit::line).collect();
        if self.truncated {
            lines.push("… and more".into());
        }
        lines.join("\n")
    }
}
