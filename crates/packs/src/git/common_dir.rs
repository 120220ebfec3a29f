//! The stand-in for a repository's common directory: everything in it is the repository's own, but for its settings.
//!
//! Git reads settings from its common directory and has no switch against that. So every command gets a private
//! directory as `GIT_COMMON_DIR`, which holds links to the repository's objects and references, and a config file
//! with only the settings on our list. Files of one worktree (`HEAD`, `index`) stay in `GIT_DIR`, which is real.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use super::options::Hooks;
use trunkline_toolbox::ToolError;

/// What git looks for in a common directory. What is not here (`remotes`, `branches`, `rr-cache`) has no effect.
const SHARED: [&str; 8] = ["HEAD", "info", "logs", "objects", "packed-refs", "refs", "reftable", "shallow"];

/// Where the linked worktrees of a repository are described.
pub(super) const WORKTREES: &str = "worktrees";

/// A private common directory for one call.
#[derive(Debug)]
pub(super) struct CommonDir {
    /// Removes the directory when it is dropped.
    _directory: tempfile::TempDir,
    path: PathBuf,
    real: PathBuf,
}

impl CommonDir {
    /// A stand-in for `real`, with `config` as its settings.
    pub(super) fn make(real: &Path, config: &[u8], hooks: Hooks) -> Result<Self, ToolError> {
        let make = || -> io::Result<Self> {
            let directory = tempfile::Builder::new().prefix("trunkline-git-").tempdir()?;
            let path = fs::canonicalize(directory.path())?;
            fs::write(path.join("config"), config)?;
            let hooks = (hooks == Hooks::Run).then_some("hooks");
            for name in SHARED.into_iter().chain([WORKTREES]).chain(hooks) {
                // A link to nowhere is a missing file to git, until git makes that file.
                symlink(real.join(name), path.join(name))?;
            }
            Ok(Self { _directory: directory, path, real: real.to_owned() })
        };
        make().map_err(|error| {
            ToolError::new("no temporary directory can be made for git")
                .hint("Ask the operator to look at the log.")
                .detail(error.to_string())
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The repository's own common directory.
    pub(super) fn real(&self) -> &Path {
        &self.real
    }

    /// Makes a directory that git is about to write into: it cannot make one behind a link.
    pub(super) fn prepare(&self, name: &str) {
        // If that fails, git fails too and says why.
        fs::create_dir(self.real.join(name)).ok();
    }
}
