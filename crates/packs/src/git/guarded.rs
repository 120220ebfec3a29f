//! Guarded files, such as the configuration of the server: commands that would create, change or
//! remove them in a working tree are refused before they run.
//!
//! Each check lists the names that a command would change. A name is refused if it is a guarded
//! path, below one, or above one: a link or a file in the place of a directory would replace
//! everything below it.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use trunkline_process::Ending;
use trunkline_toolbox::ToolError;

use super::{
    boundary, diff, discovery, failure,
    invocation::{Invocation, Output},
    pack::Git,
    repository::Repository,
};
use crate::sandbox::{Guarded, Protected, names};

/// Files that configure a server wherever they are.
const CONFIGURATION: [&str; 3] = ["trunkline.json", "trunkline/approved.json", "trunkline.lock"];

/// Maximum size of a list of changed names in bytes.
const LIST_SIZE: usize = 64 * 1024 * 1024;

/// The paths that no command may change.
struct Watched {
    guarded: Guarded,
    configuration: Protected,
}

impl Watched {
    fn new<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Self {
        let configuration = Protected::new(&[], &CONFIGURATION).expect("these are plain names");
        Self { guarded: Guarded::new(paths), configuration }
    }

    /// True if the name `name` below `top` may not be changed.
    fn holds(&self, top: &Path, name: &Path) -> bool {
        let (Some(path), Some(name)) = (names(&top.join(name)), names(&Path::new("/").join(name))) else {
            return true;
        };
        self.configuration.from_changing(&name).is_some()
            || self.guarded.covers(&path)
            || self.guarded.is_within(&path)
    }
}

/// Untracked files and a stash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Untracked {
    Stashed,
    Left,
}

impl Git {
    /// The path of a new repository or worktree that a caller names: inside a root, with an
    /// existing parent, and neither at a guarded path nor inside a git directory.
    pub(super) fn new_top(&self, named: &str) -> Result<PathBuf, ToolError> {
        let path = self.roots().vacant(named)?;
        if path.ancestors().skip(1).any(discovery::is_git_directory) {
            return Err(boundary::in_git_directory());
        }
        let watched = Watched::new(self.options().guarded.iter().map(PathBuf::as_path));
        let root = self.roots().all().iter().find(|root| path.starts_with(root)).ok_or_else(refused)?;
        let name = path.strip_prefix(root).unwrap_or(&path);
        // A directory that exists already stays as it is.
        let is_safe = path.is_dir() && !watched.guarded.covers(&names(&path).ok_or_else(refused)?);
        if !is_safe && watched.holds(root, name) {
            return Err(refused());
        }
        Ok(path)
    }
}

impl Repository<'_> {
    /// Refuses to switch from one commit or tree to another if a guarded file would change.
    pub(super) async fn keeps(&self, from: Option<&str>, to: &str) -> Result<(), ToolError> {
        // With a sparse checkout, files that are equal in both can appear or disappear.
        let from = from.filter(|_| !self.settings().is_sparse());
        let changed = match from {
            Some(from) => self.read("diff-tree").args(["-r", "--no-renames", "--name-only", "-z", from, to]),
            None => self.read("ls-tree").args(["-r", "--name-only", "--full-tree", "-z", to]),
        };
        self.keeps_all(changed).await
    }

    /// Refuses a merge of two commits whose result would differ in a guarded file.
    pub(super) async fn keeps_in_merge(&self, ours: &str, theirs: &str) -> Result<(), ToolError> {
        let merge = self.convert("merge-tree")?.args(["--write-tree", "--no-messages", "--name-only"]);
        let output = merge.args([ours, theirs]).run().await?;
        let text = output.text();
        let tree = text.lines().next().unwrap_or_default();
        // With conflicts the status is 1, but a tree is printed too.
        let is_tree = matches!(output.ending, Ending::Code(0 | 1)) && tree.len() >= 40;
        // Older versions of git print no tree; then the guarded files must be equal in both
        // commits.
        self.keeps(Some(ours), if is_tree { tree } else { theirs }).await
    }

    /// Refuses to abort a merge that would restore a guarded file.
    pub(super) async fn keeps_in_abort(&self) -> Result<(), ToolError> {
        let staged = self.read("diff").args(diff::switches());
        self.keeps_all(staged.args(["--no-renames", "--cached", "--name-only", "-z", "HEAD", "--"])).await
    }

    /// Refuses to restore the stash entry `entry` if a guarded file would change. Returns true if
    /// the merge must not follow renames: they could lead to a guarded file.
    pub(super) async fn keeps_in_restore(&self, entry: &str) -> Result<bool, ToolError> {
        self.keeps(Some(&format!("{entry}^1")), entry).await?;
        // The third parent has the untracked files.
        let untracked = format!("{entry}^3");
        let args = ["--verify", "--quiet", "--end-of-options", &untracked];
        if self.read("rev-parse").args(args).run().await?.is_success() {
            self.keeps(None, &untracked).await?;
        }
        let tracked = self.read("ls-files").args(["-z", "--"]).output_limit(LIST_SIZE).ok().await?;
        self.changes_guarded(&tracked)
    }

    /// Refuses to stash changes of a guarded file.
    pub(super) async fn keeps_unsaved(&self, untracked: Untracked) -> Result<(), ToolError> {
        let changed = self.read("diff").args(diff::switches());
        self.keeps_all(changed.args(["--no-renames", "--name-only", "-z", "HEAD", "--"])).await?;
        if untracked == Untracked::Left {
            return Ok(());
        }
        let others = self.read("ls-files").args(["--others", "--exclude-standard", "-z", "--"]);
        self.keeps_all(others).await?;
        self.takes_no_secret(&[]).await
    }

    /// Refuses to remove a directory with a guarded file in it.
    pub(super) fn keeps_inside(&self, directory: &Path) -> Result<(), ToolError> {
        let guarded = Guarded::new(&self.git().options().guarded);
        let is_within = names(directory).is_none_or(|directory| guarded.is_within(&directory));
        if is_within { Err(refused()) } else { Ok(()) }
    }

    /// Refuses if one of the NUL-terminated names that `list` prints is guarded.
    async fn keeps_all(&self, list: Invocation<'_>) -> Result<(), ToolError> {
        let output = list.output_limit(LIST_SIZE).run().await?;
        if !output.is_success() {
            return Err(failure::of(&output));
        }
        if self.changes_guarded(&output)? { Err(refused()) } else { Ok(()) }
    }

    fn changes_guarded(&self, output: &Output) -> Result<bool, ToolError> {
        if output.truncated() {
            return Err(
                ToolError::new("too many files change at once to be checked").hint("Ask a person to do it.")
            );
        }
        let top = self.top()?;
        // A git directory of another name than `.git` may be in the work tree.
        let own = [self.git_dir(), self.common().real()];
        let guarded = self.git().options().guarded.iter().map(PathBuf::as_path);
        let watched = Watched::new(guarded.chain(own));
        let mut changed = output.stdout.head.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(changed.any(|name| watched.holds(top, Path::new(OsStr::from_bytes(name)))))
    }
}

fn refused() -> ToolError {
    ToolError::new("this would change a file that is part of the configuration of this server")
        .hint("Leave it alone, or ask the operator to do it; see git_diff for what differs.")
}
