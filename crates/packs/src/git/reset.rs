//! `git_reset`: unstages everything; the working files stay.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    add,
    arguments::RepositoryOnly,
    pack::{self, Git},
    repository::Repository,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

/// The unstaged files.
#[derive(Debug, Serialize, JsonSchema)]
struct Reset {
    /// Paths that were staged.
    unstaged: Vec<String>,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_reset", run)
        .title("Unstage everything")
        .description(
            "Takes all changes out of the index, as they were staged; the working files are not touched.",
        )
        .destructive()
        .idempotent()
        .closed_world()
}

async fn run(git: Arc<Git>, args: RepositoryOnly) -> Result<TextAndData<Reset>, ToolError> {
    let _changing = git.change().await;
    let repository = Repository::open(&git, &args.repo_path).await?;
    repository.top()?;
    repository.at_rest("a reset")?;
    let staged = add::staged(&repository, &[]).await?.staged;
    repository.write("reset").args(["--quiet", "--mixed", "--no-recurse-submodules", "--"]).ok().await?;
    let unstaged: Vec<_> = staged.into_iter().map(|change| change.path).collect();
    let text = match unstaged.len() {
        0 => "Nothing was staged".into(),
        count => format!("Unstaged {count} files"),
    };
    Ok(TextAndData { text, data: Reset { unstaged } })
}
