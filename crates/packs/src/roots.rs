//! The directories that the operator opened, and the check of callers' paths inside them.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use trunkline_toolbox::ToolError;

/// The directories that the operator opened, with symbolic links resolved.
#[derive(Debug, Clone)]
pub(crate) struct Roots(Vec<PathBuf>);

impl Roots {
    /// Resolves `roots` once, at start.
    pub(crate) fn open(roots: &[PathBuf]) -> Result<Self, (PathBuf, io::Error)> {
        let open = |root: &PathBuf| {
            let real = fs::canonicalize(root).map_err(|error| (root.clone(), error))?;
            if real.is_dir() { Ok(real) } else { Err((root.clone(), io::ErrorKind::NotADirectory.into())) }
        };
        roots.iter().map(open).collect::<Result<_, _>>().map(Self)
    }

    /// The first root, the base of relative paths.
    pub(crate) fn first(&self) -> &Path {
        &self.0[0]
    }

    pub(crate) fn all(&self) -> &[PathBuf] {
        &self.0
    }

    pub(crate) fn contain(&self, real: &Path) -> bool {
        self.0.iter().any(|root| real.starts_with(root))
    }

    /// The path that a caller names, with links resolved; `None` if it does not exist.
    pub(crate) fn existing(&self, named: &str) -> Result<Option<PathBuf>, ToolError> {
        match fs::canonicalize(self.lexical(named)?) {
            Ok(real) if self.contain(&real) => Ok(Some(real)),
            Ok(_) => Err(self.outside(named)),
            Err(_) => Ok(None),
        }
    }

    /// Refuses an outside path by its text alone, before any access to the file system.
    pub(crate) fn lexical(&self, named: &str) -> Result<PathBuf, ToolError> {
        if named.contains('\0') {
            return Err(ToolError::new("a path cannot contain a NUL byte").hint("Correct the path."));
        }
        let path = self.first().join(named);
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(self.outside(named));
        }
        let path: PathBuf = path.components().collect();
        // The path may use a link by which the operator named the root; whoever opens the path
        // checks it resolved.
        if self.contain(&path) || fs::canonicalize(&path).is_ok_and(|real| self.contain(&real)) {
            return Ok(path);
        }
        Err(self.outside(named))
    }

    pub(crate) fn outside(&self, named: &str) -> ToolError {
        let roots: Vec<_> = self.0.iter().map(|root| root.display().to_string()).collect();
        ToolError::new(format!("{named:?} is outside of the directories that are open here"))
            .hint(format!("Name a directory inside {}, without `..`.", roots.join(", ")))
    }
}
