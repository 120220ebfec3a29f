//! The directories that the operator opened, and checked paths inside them.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use trunkline_toolbox::ToolError;

/// The directories that the operator opened, with symbolic links resolved.
#[derive(Debug, Clone)]
pub(super) struct Roots(Vec<PathBuf>);

/// A directory inside a root, with symbolic links resolved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Inside(PathBuf);

impl Roots {
    /// Resolves `roots` once, at start.
    pub(super) fn open(roots: &[PathBuf]) -> Result<Self, (PathBuf, io::Error)> {
        let open = |root: &PathBuf| {
            let real = fs::canonicalize(root).map_err(|error| (root.clone(), error))?;
            if real.is_dir() { Ok(real) } else { Err((root.clone(), io::ErrorKind::NotADirectory.into())) }
        };
        roots.iter().map(open).collect::<Result<_, _>>().map(Self)
    }

    /// The first root, the base of relative paths.
    pub(super) fn first(&self) -> &Path {
        &self.0[0]
    }

    pub(super) fn all(&self) -> &[PathBuf] {
        &self.0
    }

    pub(super) fn contain(&self, real: &Path) -> bool {
        self.0.iter().any(|root| real.starts_with(root))
    }

    /// The existing directory that a caller names. For a file: its directory and its name.
    pub(super) fn place(&self, named: Option<&str>) -> Result<(Inside, Option<String>), ToolError> {
        let named = named.unwrap_or("");
        let real = self.existing(self.first(), named)?;
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

    /// The path `named` relative to `base`, with links resolved. It must exist and be inside a
    /// root.
    fn existing(&self, base: &Path, named: &str) -> Result<PathBuf, ToolError> {
        if named.contains('\0') {
            return Err(ToolError::new("a path cannot contain a NUL byte").hint("Correct the path."));
        }
        let path = base.join(named);
        // Checked on the text, before any access to the file system outside of the roots.
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(self.outside(named));
        }
        let seemingly_inside =
            self.contain(&path) || fs::canonicalize(&path).is_ok_and(|real| self.contain(&real));
        if !seemingly_inside {
            return Err(self.outside(named));
        }
        let real = fs::canonicalize(&path).map_err(|_| missing(named))?;
        if self.contain(&real) { Ok(real) } else { Err(self.outside(named)) }
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

    fn outside(&self, named: &str) -> ToolError {
        let roots: Vec<_> = self.0.iter().map(|root| root.display().to_string()).collect();
        ToolError::new(format!("{named:?} is outside of the directories that are open here"))
            .hint(format!("Name a directory inside {}, without `..`.", roots.join(", ")))
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
