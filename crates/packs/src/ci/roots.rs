//! Checked paths inside the directories that the operator opened.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use trunkline_toolbox::ToolError;

pub(super) use crate::roots::Roots;

/// A directory inside a root, with symbolic links resolved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Inside(PathBuf);

impl Roots {
    /// The existing directory that a caller names. For a file: its directory and its name.
    pub(super) fn place(&self, named: Option<&str>) -> Result<(Inside, Option<String>), ToolError> {
        let named = named.unwrap_or("");
        let real = self.existing(named)?.ok_or_else(|| missing(named))?;
        if real.is_dir() {
            return Ok((Inside(real), None));
        }
        let name = real.file_name().map(|name| name.to_string_lossy().into_owned());
        let directory = real.parent().map(Path::to_owned).ok_or_else(|| missing(named))?;
        // The parent is inside a root too: `existing` has refused files outside of the roots.
        Ok((Inside(directory), name))
    }

    /// The existing directory that a caller names.
    pub(super) fn directory(&self, named: Option<&str>) -> Result<Inside, ToolError> {
        match self.place(named)? {
            (directory, None) => Ok(directory),
            (_, Some(name)) => Err(ToolError::new(format!("{name:?} is not a directory"))
                .hint("Name the directory that it lies in.")),
        }
    }

    /// A directory found by a search, if it is still inside a root after resolving links.
    pub(super) fn below(&self, path: &Path) -> Option<Inside> {
        let real = fs::canonicalize(path).ok()?;
        (self.contain(&real) && real.is_dir()).then_some(Inside(real))
    }

    /// True if an argument, as a path relative to `base`, stays inside a root. It need not exist,
    /// but its existing part must not lead out through links.
    pub(super) fn encloses(&self, base: &Inside, named: &str) -> bool {
        if named.contains('\0') || Path::new(named).components().any(|part| part == Component::ParentDir) {
            return false;
        }
        let path = base.path().join(named);
        let existing = path.ancestors().find(|part| fs::symlink_metadata(part).is_ok());
        existing.and_then(|part| fs::canonicalize(part).ok()).is_some_and(|real| self.contain(&real))
    }
}

impl Inside {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.join(name).is_file()
    }
}

fn missing(named: &str) -> ToolError {
    ToolError::not_found(format!("there is no {named:?}")).hint("Call detect_project to see what there is.")
}
