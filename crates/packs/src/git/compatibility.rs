//! Tools with the names and arguments of an older server. Each calls one of the other tools.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    add,
    arguments::RepositoryOnly,
    branch::{self, BranchType},
    commit, diff, log,
    pack::{self, Git},
    repository::Repository,
    status,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RepositoryArgs {
    /// Directory in the repository; default: the first open directory.
    #[serde(default)]
    repository_path: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct LogArgs {
    /// Directory in the repository; default: the first open directory.
    #[serde(default)]
    repository_path: String,
    /// Number of commits, 1 to 500.
    #[serde(default = "ten")]
    max_count: i64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct AddArgs {
    /// Files or directories, relative to the repository's top directory.
    #[schemars(length(min = 1, max = 1000))]
    files: Vec<String>,
    /// Directory in the repository; default: the first open directory.
    #[serde(default)]
    repository_path: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct CommitArgs {
    /// Commit message.
    message: String,
    /// Directory in the repository; default: the first open directory.
    #[serde(default)]
    repository_path: String,
}

/// The branch that is checked out.
#[derive(Debug, Serialize, JsonSchema)]
struct Current {
    /// Missing if HEAD is detached.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
}

/// The tools that only read.
pub(super) fn reading(git: &Arc<Git>) -> Vec<Tool> {
    let tools = [
        pack::tool(git, "get_status", get_status)
            .title("Show the status")
            .description("The same as git_status."),
        pack::tool(git, "get_log", get_log)
            .title("Show commits")
            .description("The same as git_log, from HEAD."),
        pack::tool(git, "get_diff", get_diff)
            .title("Show unstaged changes")
            .description("The same as git_diff_unstaged."),
        pack::tool(git, "list_branches", list_branches)
            .title("List branches")
            .description("The same as git_branch for all branches."),
        pack::tool(git, "get_current_branch", get_current_branch)
            .title("Show the current branch")
            .description("Tells which branch is checked out."),
    ];
    tools.into_iter().map(|tool| tool.read_only().idempotent().closed_world()).collect()
}

/// The tools that change a repository.
pub(super) fn changing(git: &Arc<Git>) -> Vec<Tool> {
    vec![
        pack::tool(git, "add", stage)
            .title("Stage files")
            .description("The same as git_add.")
            .additive()
            .idempotent()
            .closed_world(),
        pack::tool(git, "commit", record)
            .title("Commit what is staged")
            .description("The same as git_commit.")
            .additive()
            .not_idempotent()
            .closed_world(),
    ]
}

async fn get_status(git: Arc<Git>, args: RepositoryArgs) -> Result<TextAndData<status::Status>, ToolError> {
    status::run(git, RepositoryOnly { repo_path: args.repository_path }).await
}

async fn get_log(git: Arc<Git>, args: LogArgs) -> Result<TextAndData<log::Log>, ToolError> {
    let args = log::Args {
        repo_path: args.repository_path,
        max_count: args.max_count,
        start_timestamp: None,
        end_timestamp: None,
        revision: None,
        path: None,
    };
    log::run(git, args).await
}

async fn get_diff(git: Arc<Git>, args: RepositoryArgs) -> Result<TextAndData<diff::Diff>, ToolError> {
    let context_lines = diff::default_context();
    diff::unstaged(git, diff::Args { repo_path: args.repository_path, context_lines, paths: Vec::new() })
        .await
}

async fn list_branches(
    git: Arc<Git>,
    args: RepositoryArgs,
) -> Result<TextAndData<branch::BranchList>, ToolError> {
    let args = branch::Args {
        repo_path: args.repository_path,
        branch_type: BranchType::All,
        contains: None,
        not_contains: None,
    };
    branch::run(git, args).await
}

async fn get_current_branch(git: Arc<Git>, args: RepositoryArgs) -> Result<TextAndData<Current>, ToolError> {
    let repository = Repository::open(&git, &args.repository_path).await?;
    let branch = repository.branch().await?;
    Ok(TextAndData {
        text: branch.clone().unwrap_or_else(|| "HEAD (detached)".into()),
        data: Current { branch },
    })
}

async fn stage(git: Arc<Git>, args: AddArgs) -> Result<TextAndData<add::Added>, ToolError> {
    add::run(git, add::Args { repo_path: args.repository_path, files: args.files }).await
}

async fn record(git: Arc<Git>, args: CommitArgs) -> Result<TextAndData<commit::Committed>, ToolError> {
    commit::run(git, commit::Args { repo_path: args.repository_path, message: args.message }).await
}

fn ten() -> i64 {
    10
}
