//! Operations in progress in a repository.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use trunkline_toolbox::ToolError;

/// An unfinished operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum InProgress {
    Merge,
    Rebase,
    CherryPick,
    Revert,
    Bisect,
}

/// The unfinished operation of the repository with this git directory, if any.
pub(super) fn in_progress(git_dir: &Path) -> Option<InProgress> {
    [
        ("MERGE_HEAD", InProgress::Merge),
        ("rebase-merge", InProgress::Rebase),
        ("rebase-apply", InProgress::Rebase),
        ("CHERRY_PICK_HEAD", InProgress::CherryPick),
        ("REVERT_HEAD", InProgress::Revert),
        ("BISECT_LOG", InProgress::Bisect),
    ]
    .into_iter()
    .find_map(|(name, state)| git_dir.join(name).exists().then_some(state))
}

impl InProgress {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisect",
        }
    }

    /// The error that refuses `action` during this operation.
    pub(super) fn refuse(self, action: &str) -> ToolError {
        let name = self.name();
        let error = ToolError::new(format!("a {name} is in progress, and {action} would damage it"));
        match self {
            Self::Merge => error.hint("Finish it: resolve the conflicts, git_add, git_commit. Or give up: git_merge with action abort."),
            _ => error.hint(format!("Ask a person to finish or abort the {name}.")),
        }
    }
}
