//! Guarded files, such as the configuration of the server: commands that would change them in a
//! working tree are refused before they run.

use std::{
    fs,
    path::{Path, PathBuf},
};

use trunkline_process::Ending;
use trunkline_toolbox::ToolError;

use super::{diff, failure, invocation::Invocation, repository::Repository};

impl Repository<'_> {
    /// Refuses to switch from one commit to another if a guarded file differs between them.
    pub(super) async fn keeps(&self, from: &str, to: &str) -> Result<(), ToolError> {
        let guarded = self.guarded();
        if guarded.is_empty() {
            return Ok(());
        }
        let compare = self.read("diff-tree").args(["--quiet", "-r", "--no-renames", from, to, "--"]);
        unchanged(compare.args(guarded)).await
    }

    /// Refuses a merge of two commits whose result would differ in a guarded file.
    pub(super) async fn keeps_in_merge(&self, ours: &str, theirs: &str) -> Result<(), ToolError> {
        if self.guarded().is_empty() {
            return Ok(());
        }
        let merge = self.convert("merge-tree")?.args(["--write-tree", "--no-messages", "--name-only"]);
        let output = merge.args([ours, theirs]).run().await?;
        let text = output.text();
        let tree = text.lines().next().unwrap_or_default();
        // With conflicts the status is 1, but a tree is printed too.
        let is_tree = matches!(output.ending, Ending::Code(0 | 1)) && tree.len() >= 40;
        // Older versions of git print no tree; then the guarded files must be equal in both
        // commits.
        self.keeps(ours, if is_tree { tree } else { theirs }).await
    }

    /// Refuses to stash changes of a guarded file.
    pub(super) async fn keeps_unsaved(&self) -> Result<(), ToolError> {
        let guarded = self.guarded();
        if guarded.is_empty() {
            return Ok(());
        }
        let compare = self.read("diff").args(diff::switches()).args(["--quiet", "HEAD", "--"]);
        unchanged(compare.args(&guarded)).await?;
        let untracked = self.read("ls-files").args(["--others", "-z", "--"]).args(&guarded).ok().await?;
        if untracked.fields().is_empty() { Ok(()) } else { Err(refused()) }
    }

    /// Refuses to remove a directory with a guarded file in it.
    pub(super) fn keeps_inside(&self, directory: &Path) -> Result<(), ToolError> {
        let inside = self.existing().any(|path| path.starts_with(directory));
        if inside { Err(refused()) } else { Ok(()) }
    }

    /// The guarded files of this working tree, relative to its top. A missing file is not in use,
    /// so creating it is allowed.
    fn guarded(&self) -> Vec<PathBuf> {
        let Ok(top) = self.top() else { return Vec::new() };
        let inside = |path: PathBuf| path.strip_prefix(top).map(Path::to_owned).ok();
        self.existing().filter_map(inside).filter(|path| !path.as_os_str().is_empty()).collect()
    }

    /// The guarded files that exist: by name in their resolved directory, and by their resolved
    /// path.
    fn existing(&self) -> impl Iterator<Item = PathBuf> {
        let there = self.git().options().guarded.iter().filter(|path| path.symlink_metadata().is_ok());
        there.flat_map(|path| {
            let parent = path.parent().and_then(|parent| fs::canonicalize(parent).ok());
            let own = parent.zip(path.file_name()).map(|(parent, name)| parent.join(name));
            [own, fs::canonicalize(path).ok()].into_iter().flatten()
        })
    }
}

async fn unchanged(compare: Invocation<'_>) -> Result<(), ToolError> {
    let output = compare.run().await?;
    match output.ending {
        Ending::Code(0) => Ok(()),
        Ending::Code(1) => Err(refused()),
        _ => Err(failure::of(&output)),
    }
}

fn refused() -> ToolError {
    ToolError::new("this would change a file that is part of the configuration of this server")
        .hint("Leave it alone, or ask the operator to do it; see git_diff for what differs.")
}
