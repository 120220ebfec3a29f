//! Finds the repository of a directory without git, so that no git process reads an unchecked one.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use super::boundary::{Roots, leads_outside};
use trunkline_toolbox::ToolError;

/// Maximum size of a `.git` file or a `commondir` file.
const POINTER_SIZE: u64 = 8 * 1024;

/// Paths of the parts of a repository, with links resolved, all inside the roots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) git_dir: PathBuf,
    /// The git directory that linked worktrees share; otherwise the same as `git_dir`.
    pub(super) common_dir: PathBuf,
    /// The directory that holds `.git`; `None` if the git directory itself was named.
    pub(super) top: Option<PathBuf>,
}

/// The repository that contains `directory`, which is inside the roots and has its links resolved.
pub(super) fn find(roots: &Roots, directory: &Path) -> Result<Layout, ToolError> {
    for candidate in directory.ancestors().take_while(|path| roots.contain(path)) {
        if let Some(layout) = nested(roots, candidate)? {
            return Ok(layout);
        }
        if is_git_directory(candidate) {
            if candidate.file_name().is_none_or(|name| name != ".git") {
                stands_alone(roots, candidate, directory)?;
            }
            return layout(roots, candidate.to_owned(), None);
        }
    }
    Err(no_repository())
}

/// The repository whose work tree has `directory` as its top, if there is one.
pub(super) fn nested(roots: &Roots, directory: &Path) -> Result<Option<Layout>, ToolError> {
    match entry(roots, directory)? {
        Some(git_dir) => layout(roots, git_dir, Some(directory.to_owned())).map(Some),
        None => Ok(None),
    }
}

/// The git directory that `.git` in `top` is, or points to.
fn entry(roots: &Roots, top: &Path) -> Result<Option<PathBuf>, ToolError> {
    let path = top.join(".git");
    let Ok(metadata) = fs::symlink_metadata(&path) else { return Ok(None) };
    let real = inside(roots, &path)?;
    if metadata.is_dir() || real.is_dir() {
        return Ok(Some(real).filter(|real| is_git_directory(real)));
    }
    let text = pointer(&real)?;
    let target = text.strip_prefix("gitdir: ").ok_or_else(no_repository)?;
    inside(roots, &top.join(target)).map(Some)
}

fn layout(roots: &Roots, git_dir: PathBuf, top: Option<PathBuf>) -> Result<Layout, ToolError> {
    let pointer_file = git_dir.join("commondir");
    let common_dir = match fs::symlink_metadata(&pointer_file) {
        Ok(_) => inside(roots, &git_dir.join(pointer(&inside(roots, &pointer_file)?)?))?,
        Err(_) => git_dir.clone(),
    };
    Ok(Layout { git_dir, common_dir, top })
}

/// Refuses a bare repository that the caller did not name directly, or that is inside a work tree:
/// its contents, including its settings, may be part of an untrusted outer repository.
fn stands_alone(roots: &Roots, git_dir: &Path, named: &Path) -> Result<(), ToolError> {
    let mut above = git_dir.ancestors().skip(1).filter(|path| path.join(".git").symlink_metadata().is_ok());
    let embedded = above.any(|path| !matches!(entry(roots, path), Ok(Some(found)) if found == git_dir));
    if embedded {
        return Err(ToolError::new(
            "this is a bare repository inside a work tree, which is not trusted here",
        )
        .hint("Name the directory of the outer repository, or move the bare repository out of it."));
    }
    if git_dir != named {
        return Err(ToolError::new("this directory belongs to a bare repository")
            .hint("Name the bare repository's own directory."));
    }
    Ok(())
}

/// True if git would treat `directory` as a git directory.
pub(super) fn is_git_directory(directory: &Path) -> bool {
    let has = |name: &str| directory.join(name).symlink_metadata().is_ok();
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

fn inside(roots: &Roots, path: &Path) -> Result<PathBuf, ToolError> {
    fs::canonicalize(path).ok().filter(|real| roots.contain(real)).ok_or_else(leads_outside)
}

/// The text of a small file that names a path, without the line feeds at its end.
fn pointer(path: &Path) -> Result<String, ToolError> {
    if !path.is_file() {
        return Err(no_repository());
    }
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|_| no_repository())?;
    file.take(POINTER_SIZE).read_to_string(&mut text).map_err(|_| no_repository())?;
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    Ok(text)
}

fn no_repository() -> ToolError {
    ToolError::new("this is not a git repository")
        .hint("Name a directory inside a repository with `repo_path`, or make one with git_init.")
}
