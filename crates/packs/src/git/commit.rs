//! `git_commit`: commits the staged changes.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    add,
    failure::clean,
    identity,
    options::Hooks,
    pack::{self, Git},
    repository::Repository,
    state::InProgress,
};
use crate::text_and_data::TextAndData;
use trunkline_secrets::counted;
use trunkline_toolbox::{Tool, ToolError};

/// Maximum length of a message in bytes.
const LONGEST_MESSAGE: usize = 64 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Directory in the repository, relative to the first open directory, which is the default.
    #[serde(default)]
    pub(super) repo_path: String,
    /// Commit message; the first line is the subject.
    pub(super) message: String,
}

/// The new commit.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Committed {
    pub(super) commit: String,
    /// The branch that it is on; missing if HEAD is detached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) branch: Option<String>,
    pub(super) subject: String,
    pub(super) files_changed: usize,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_commit", run)
        .title("Commit what is staged")
        .description("Records what is staged as a commit on the current branch; also finishes a merge whose conflicts are resolved. Hooks do not run and nothing is signed unless the operator chose so.")
        .additive()
        .not_idempotent()
        .closed_world()
}

pub(super) async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<Committed>, ToolError> {
    let message = args.message.trim();
    if message.is_empty() || message.len() > LONGEST_MESSAGE || message.contains('\0') {
        return Err(ToolError::new("the message is empty, longer than 64 KiB, or contains a NUL byte")
            .hint("Say in `message` what was done and why."));
    }
    let _changing = git.change().await;
    let repository = Repository::open(&git, &args.repo_path).await?;
    repository.top()?;
    let staged = add::staged(&repository, &[]).await?.staged;
    check(&repository, staged.len()).await?;
    let mut command =
        repository.write("commit").args(["--quiet", "--no-status", "--no-gpg-sign", "--cleanup=whitespace"]);
    if git.options().hooks == Hooks::Off {
        command = command.arg("--no-verify");
    }
    for (key, value) in identity::settings(&repository).await? {
        command = command.setting(key, value);
    }
    command.args(["--file", "-"]).input(message).ok().await?;
    let data = Committed {
        commit: repository.born_head().await?,
        branch: repository.branch().await?,
        subject: message.lines().next().unwrap_or_default().into(),
        files_changed: staged.len(),
    };
    Ok(TextAndData { text: data.text(), data })
}

async fn check(repository: &Repository<'_>, staged: usize) -> Result<(), ToolError> {
    let state = repository.in_progress();
    if let Some(state @ (InProgress::Rebase | InProgress::CherryPick | InProgress::Revert)) = state {
        return Err(state.refuse("a commit"));
    }
    repository.without_autostash()?;
    let unmerged = repository.read("ls-files").args(["--unmerged", "-z"]).output_limit(4096).ok().await?;
    if !unmerged.stdout.head.is_empty() {
        return Err(ToolError::new("there are unresolved conflicts")
            .hint("Edit the files named by git_status and git_add them; or give up with git_merge and action abort."));
    }
    if staged == 0 && state != Some(InProgress::Merge) {
        return Err(
            ToolError::new("nothing is staged").hint("Stage changes with git_add; git_status shows them.")
        );
    }
    Ok(())
}

impl Committed {
    fn text(&self) -> String {
        let place =
            self.branch.as_ref().map_or("a detached HEAD".into(), |branch| format!("branch {branch}"));
        clean(&format!(
            "Committed {} on {place}, {}: {}",
            self.commit,
            counted(self.files_changed, "file"),
            self.subject
        ))
    }
}
