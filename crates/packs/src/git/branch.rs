//! `git_branch`: lists branches.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    failure::clean,
    pack::{self, Git},
    repository::Repository,
    revision::Revision,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

/// Maximum number of branches in an answer.
const MOST_BRANCHES: usize = 1000;

const FORMAT: &str = "--format=%(refname)%00%(objectname)%00%(HEAD)%00%(upstream:short)%00%(committerdate:iso-strict)%00%(contents:subject)";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Directory in the repository, relative to the first open directory, which is the default.
    #[serde(default)]
    pub(super) repo_path: String,
    /// Branches to list.
    #[serde(default)]
    pub(super) branch_type: BranchType,
    /// Only branches that contain this commit.
    #[serde(default)]
    pub(super) contains: Option<String>,
    /// Only branches that do not contain this commit.
    #[serde(default)]
    pub(super) not_contains: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum BranchType {
    #[default]
    Local,
    Remote,
    All,
}

/// The branches.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BranchList {
    /// The branch that is checked out; missing if HEAD is detached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) current: Option<String>,
    pub(super) branches: Vec<Branch>,
    /// True if there are more than listed.
    pub(super) truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Branch {
    /// Such as `main`, or `origin/main` for a remote one.
    pub(super) name: String,
    pub(super) remote: bool,
    pub(super) current: bool,
    pub(super) commit: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) upstream: Option<String>,
    /// Date of its last commit.
    pub(super) date: String,
    /// First line of its last commit's message.
    pub(super) subject: String,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_branch", run)
        .title("List branches")
        .description("Lists local or remote branches with their last commit and upstream. At most 1000.")
        .read_only()
        .idempotent()
        .closed_world()
}

pub(super) async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<BranchList>, ToolError> {
    let repository = Repository::open(&git, &args.repo_path).await?;
    let mut command =
        repository.read("for-each-ref").args([FORMAT, &format!("--count={}", MOST_BRANCHES + 1)]);
    for (option, revision) in [("--contains", &args.contains), ("--no-contains", &args.not_contains)] {
        if let Some(revision) = revision {
            let hash = repository.commit(&Revision::parse(revision)?).await?;
            command = command.arg(format!("{option}={hash}"));
        }
    }
    let patterns: &[&str] = match args.branch_type {
        BranchType::Local => &["refs/heads/"],
        BranchType::Remote => &["refs/remotes/"],
        BranchType::All => &["refs/heads/", "refs/remotes/"],
    };
    let output = command.args(patterns).ok().await?;
    let text = output.raw_text();
    let lines: Vec<_> = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).collect();
    let truncated = output.truncated() || lines.len() > MOST_BRANCHES;
    let branches = lines.into_iter().take(MOST_BRANCHES).filter_map(Branch::parse).collect();
    let data = BranchList { current: repository.branch().await?, branches, truncated };
    Ok(TextAndData { text: data.text(), data })
}

impl Branch {
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<_> = line.split('\0').collect();
        let [name, commit, head, upstream, date, subject] = fields[..] else { return None };
        let remote = name.starts_with("refs/remotes/");
        let name = name.strip_prefix("refs/heads/").or_else(|| name.strip_prefix("refs/remotes/"))?;
        Some(Self {
            name: name.into(),
            remote,
            current: head == "*",
            commit: commit.into(),
            upstream: Some(upstream.to_owned()).filter(|name| !name.is_empty()),
            date: date.into(),
            subject: subject.into(),
        })
    }
}

impl BranchList {
    fn text(&self) -> String {
        let line = |branch: &Branch| {
            let mark = if branch.current { '*' } else { ' ' };
            let short = &branch.commit[..branch.commit.len().min(10)];
            clean(&format!("{mark} {} {short} {}", branch.name, branch.subject))
        };
        let mut lines: Vec<_> = self.branches.iter().map(line).collect();
        if lines.is_empty() {
            lines.push("No branches".into());
        }
        if self.truncated {
            lines.push("… and more".into());
        }
        lines.join("\n")
    }
}
