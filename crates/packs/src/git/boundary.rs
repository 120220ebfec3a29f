//! The roots, and checks of callers' paths inside them.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use trunkline_toolbox::ToolError;

/// The directories that the operator opened, with symbolic links resolved.
#[derive(Debug, Clone)]
pub(super) struct Roots(Vec<PathBuf>);

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

    pub(super) fn iter(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.iter()
    }

    pub(super) fn contain(&self, real: &Path) -> bool {
        self.0.iter().any(|root| real.starts_with(root))
    }

    /// Directories at which git's upward search for a repository stops
    /// (`GIT_CEILING_DIRECTORIES`).
    pub(super) fn ceilings(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter_map(|root| root.parent())
    }

    /// The existing directory that a caller names, with links resolved.
    pub(super) fn directory(&self, named: &str) -> Result<PathBuf, ToolError> {
        let path = self.lexical(named)?;
        let real = fs::canonicalize(&path).map_err(|_| no_directory(named))?;
        if !self.contain(&real) {
            return Err(self.outside(named));
        }
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

    /// Refuses an outside path by its text alone, before any access to the file system.
    fn lexical(&self, named: &str) -> Result<PathBuf, ToolError> {
        if named.contains('\0') {
            return Err(ToolError::new("a path cannot contain a NUL byte").hint("Correct `repo_path`."));
        }
        let path = self.first().join(named);
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(self.outside(named));
        }
        let path: PathBuf = path.components().collect();
        // The path may use a link by which the operator named the root; the caller of this
        // function checks the resolved path.
        if self.contain(&path) || fs::canonicalize(&path).is_ok_and(|real| self.contain(&real)) {
            return Ok(path);
        }
        Err(self.outside(named))
    }

    fn outside(&self, named: &str) -> ToolError {
        let roots: Vec<_> = self.0.iter().map(|root| root.display().to_string()).collect();
        ToolError::new(format!("{named:?} is outside of the directories that are open here"))
            .hint(format!("Name a directory inside {}.", roots.join(", ")))
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
