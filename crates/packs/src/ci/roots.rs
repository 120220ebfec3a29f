//! The directories that the operator opened, and what lies inside them.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use trunkline_toolbox::ToolError;

/// The directories that the operator opened, without links.
#[derive(Debug, Clone)]
pub(super) struct Roots(Vec<PathBuf>);

/// A directory inside a root, without links.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Inside(PathBuf);

impl Roots {
    /// `roots` as they are now.
    pub(super) fn open(roots: &[PathBuf]) -> Result<Self, (PathBuf, io::Error)> {
        let open = |root: &PathBuf| {
            let real = fs::canonicalize(root).map_err(|error| (root.clone(), error))?;
            if real.is_dir() { Ok(real) } else { Err((root.clone(), io::ErrorKind::NotADirectory.into())) }
        };
        roots.iter().map(open).collect::<Result<_, _>>().map(Self)
    }

    /// The first one, which relative paths start from.
    pub(super) fn first(&self) -> &Path {
        &self.0[0]
    }

    pub(super) fn all(&self) -> &[PathBuf] {
        &self.0
    }

    pub(super) fn contain(&self, real: &Path) -> bool {
        self.0.iter().any(|root| real.starts_with(root))
    }

    /// The existing directory that a caller names, or the directory of the file that it names, and that file's name.
    pub(super) fn place(&self, named: Option<&str>) -> Result<(Inside, Option<String>), ToolError> {
        let named = named.unwrap_or("");
        let real = self.existing(self.first(), named)?;
        if real.is_dir() {
            return Ok((Inside(real), None));
        }
        let name = real.file_name().map(|name| name.to_string_lossy().into_owned());
        let directory = real.parent().map(Path::to_owned).ok_or_else(|| missing(named))?;
        // The file may itself be a root's sibling only if it lies in the root's parent, which `existing` has refused.
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

    /// A directory that was found below another one, if it still is inside.
    pub(super) fn below(&self, path: &Path) -> Option<Inside> {
        let real = fs::canonicalize(path).ok()?;
        (self.contain(&real) && real.is_dir()).then_some(Inside(real))
    }

    /// What a caller names, starting from `base`, without links; it must exist and be inside.
    fn existing(&self, base: &Path, named: &str) -> Result<PathBuf, ToolError> {
        if named.contains('\0') {
            return Err(ToolError::new("a path cannot contain a NUL byte").hint("Correct the path."));
        }
        let path = base.join(named);
        // Refused by its mere text, so that nothing outside is even looked at.
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

    /// Whether an argument of a command, taken as a path that starts at `base`, stays inside. It need not exist, but
    /// the part of it that does must not lead out.
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
