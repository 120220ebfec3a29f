//! Checks of callers' paths inside the roots.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use trunkline_toolbox::ToolError;

pub(super) use crate::roots::Roots;

impl Roots {
    /// Directories at which git's upward search for a repository stops
    /// (`GIT_CEILING_DIRECTORIES`).
    pub(super) fn ceilings(&self) -> impl Iterator<Item = &Path> {
        self.all().iter().filter_map(|root| root.parent())
    }

    /// The existing directory that a caller names, with links resolved.
    pub(super) fn repository_directory(&self, named: &str) -> Result<PathBuf, ToolError> {
        let real = self.existing(named)?.ok_or_else(|| no_directory(named))?;
        if real.is_dir() { Ok(real) } else { Err(no_directory(named)) }
    }

    /// The path of a new entry that a caller names: inside a root, with an existing parent.
    pub(super) fn vacant(&self, named: &str) -> Result<PathBuf, ToolError> {
        let path = self.lexical(named)?;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(self.outside(named));
        };
        let parent = fs::canonicalize(parent).map_err(|_| no_directory(named))?;
        let real = parent.join(name);
        if !self.contain(&real) || real.components().any(is_git_directory) {
            return Err(self.outside(named));
        }
        match fs::symlink_metadata(&real) {
            Ok(metadata) if metadata.is_symlink() => Err(self.outside(named)),
            _ => Ok(real),
        }
    }
}

/// True for `.git`: nothing new may be created among git's own files.
fn is_git_directory(part: Component<'_>) -> bool {
    part.as_os_str().as_encoded_bytes().eq_ignore_ascii_case(b".git")
}

fn no_directory(named: &str) -> ToolError {
    ToolError::new(format!("there is no directory {named:?}")).hint("Check `repo_path`.")
}

/// The error for a new directory inside a git directory.
pub(super) fn in_git_directory() -> ToolError {
    ToolError::new("this directory is inside the git directory of a repository")
        .hint("Name a directory among the working files.")
}

/// The error for a repository with a part outside of the roots.
pub(super) fn leads_outside() -> ToolError {
    ToolError::new("a part of this repository lies outside of the directories that are open here")
        .hint("Its .git file, a link in it, its worktree setting or its borrowed object store leads away. Ask the operator to open that directory too.")
}
