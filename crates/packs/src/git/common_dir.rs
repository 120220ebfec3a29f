//! A substitute for a repository's common directory, with filtered settings.
//!
//! Git reads settings from its common directory, and no option prevents that. So every command
//! gets a private directory as `GIT_COMMON_DIR`: it has links to the repository's objects and
//! references, and a config file with only the allowed settings. Files of one worktree (`HEAD`,
//! `index`) are in `GIT_DIR`, which is the real one.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use super::options::Hooks;
use trunkline_toolbox::ToolError;

/// Entries of a common directory that are linked. Others (`remotes`, `branches`, `rr-cache`) are
/// omitted, so they have no effect.
const SHARED: [&str; 8] = ["HEAD", "info", "logs", "objects", "packed-refs", "refs", "reftable", "shallow"];

/// Directory that describes the linked worktrees of a repository.
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
    /// Creates a substitute for `real` with `config` as its settings.
    pub(super) fn make(real: &Path, config: &[u8], hooks: Hooks) -> Result<Self, ToolError> {
        let make = || -> io::Result<Self> {
            let directory = tempfile::Builder::new().prefix("trunkline-git-").tempdir()?;
            let path = fs::canonicalize(directory.path())?;
            fs::write(path.join("config"), config)?;
            let hooks = (hooks == Hooks::Run).then_some("hooks");
            for name in SHARED.into_iter().chain([WORKTREES]).chain(hooks) {
                // The target may be missing: git treats a dangling link as a missing file, and can
                // create it.
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

    /// Creates a directory that git is about to write into: git cannot create one through a link.
    pub(super) fn prepare(&self, name: &str) {
        // The error is ignored: if this fails, git fails too and reports the reason.
        fs::create_dir(self.real.join(name)).ok();
    }
}
