//! Paths that are never changed, such as the configuration of the server.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::name::{Name, RelPath};
use super::protected::{fold, folded};
use super::root::names;

/// Maximum number of links that are followed in one path; the same as in Linux.
const MAX_LINKS: usize = 40;

/// Absolute paths, as case-folded names. They need not exist.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guarded(Arc<[Vec<String>]>);

impl Guarded {
    pub(crate) fn new<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        let places = paths.into_iter().flat_map(|path| places(path.as_ref()));
        let folded = places.filter_map(|path| names(&path)).map(|path| folded(&path));
        Self(folded.filter(|path| !path.is_empty()).collect())
    }

    /// These paths and those of `other`.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(other.0.iter()).cloned().collect())
    }

    /// True if an absolute path is guarded, or is below a guarded one.
    pub(crate) fn covers(&self, path: &RelPath) -> bool {
        let path = folded(path);
        self.0.iter().any(|guarded| path.starts_with(guarded))
    }

    /// True if a guarded path is at or below an absolute path.
    pub(crate) fn is_within(&self, path: &RelPath) -> bool {
        let path = folded(path);
        self.0.iter().any(|guarded| guarded.starts_with(&path))
    }
}

/// True for `.git` in every spelling that some filesystem treats as the same name.
pub(crate) fn is_git_name(name: &[u8]) -> bool {
    Name::new(name).is_some_and(|name| matches!(fold(&name).as_str(), ".git" | "git~1"))
}

/// All forms of a path: as given, with its directory resolved, and fully resolved. Missing parts
/// are kept as they are.
fn places(path: &Path) -> Vec<PathBuf> {
    let given = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let parent = given.parent().map(|parent| resolved(parent.to_owned()));
    let real = parent.zip(given.file_name()).map(|(parent, name)| parent.join(name));
    let target = resolved(given.clone());
    let mut all: Vec<PathBuf> = [Some(given), real, Some(target)].into_iter().flatten().collect();
    all.sort();
    all.dedup();
    all
}

/// The path with links resolved as far as it exists. Dangling links are followed as well.
fn resolved(mut path: PathBuf) -> PathBuf {
    'links: for _ in 0..MAX_LINKS {
        for existing in path.ancestors() {
            let rest = path.strip_prefix(existing).unwrap_or(Path::new(""));
            if let Ok(real) = existing.canonicalize() {
                return real.join(rest);
            }
            if let (Ok(target), Some(parent)) = (fs::read_link(existing), existing.parent()) {
                path = parent.join(target).join(rest);
                continue 'links;
            }
        }
        break;
    }
    path
}
