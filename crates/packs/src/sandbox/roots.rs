//! The allowed directories, and the selection of one for a path.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::dir::Dir;
use super::error::AccessError;
use super::input::{self, Wanted};
use super::label::escape;
use super::name::RelPath;
use super::resolve::{self, Last, Missing};
use super::root::{self, Root};

/// The allowed directories. A relative path starts at the first of them.
#[derive(Clone, Debug)]
pub struct Roots {
    roots: Vec<Arc<Root>>,
}

impl Roots {
    /// Opens and pins each directory.
    pub fn open<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self, AccessError> {
        let roots =
            paths.into_iter().enumerate().map(|(at, path)| Root::open(path.as_ref(), at).map(Arc::new));
        Ok(Self { roots: roots.collect::<Result<_, _>>()? })
    }

    pub fn iter(&self) -> impl Iterator<Item = &Root> {
        self.roots.iter().map(Arc::as_ref)
    }

    pub(super) fn tops(&self) -> impl Iterator<Item = Dir> {
        self.roots.iter().map(Root::top)
    }

    /// The intersection with `wanted`, such as the roots of a client. It can only narrow the
    /// allowed directories: a directory outside is dropped, and one that contains a root yields
    /// that root.
    #[must_use]
    pub fn intersect(&self, wanted: &[PathBuf]) -> Self {
        let mut found: Vec<(Arc<Root>, RelPath)> = Vec::new();
        for path in wanted {
            let Some(path) = root::names(path) else { continue };
            for root in &self.roots {
                let below = match root.inside(&path) {
                    Some((_, below)) => below,
                    None if root.real().below(&path).is_some() => RelPath::default(),
                    None => continue,
                };
                let known = found.iter().any(|(other, at)| Arc::ptr_eq(other, root) && *at == below);
                if !known {
                    found.push((Arc::clone(root), below));
                }
            }
        }
        let roots = found.into_iter().filter_map(|(root, below)| narrowed(&root, &below));
        let roots = roots.enumerate().map(|(at, narrow)| Arc::new(narrow(at))).collect();
        Self { roots }
    }

    pub(super) fn find(&self, text: &str) -> Result<(Arc<Root>, RelPath), AccessError> {
        match input::parse(text)? {
            Wanted::Relative(path) => {
                let root = self.roots.first().ok_or(AccessError::NoRoots)?;
                Ok((Arc::clone(root), path))
            }
            Wanted::Absolute(path) => {
                let inside = self.roots.iter().filter_map(|root| Some((root, root.inside(&path)?)));
                let (root, (_, path)) = inside
                    .max_by_key(|(_, (depth, _))| *depth)
                    .ok_or_else(|| AccessError::Outside { path: escape(text) })?;
                Ok((Arc::clone(root), path))
            }
        }
    }
}

/// A directory below a root as a new root, opened through the descriptor of the outer one.
fn narrowed(root: &Arc<Root>, below: &RelPath) -> Option<impl FnOnce(usize) -> Root + use<>> {
    let dir = resolve::resolve(root, below, Last::Follow, Missing::Refuse).ok()?.open_dir().ok()?;
    let inside = dir.path();
    let path = root.path().join(inside.to_os_string());
    let real: RelPath = root.real().names().iter().chain(inside.names()).cloned().collect();
    let given: RelPath = root.real().names().iter().chain(below.names()).cloned().collect();
    let fd = dir.shared_fd();
    Some(move |position| Root::new(fd, path, real, given, position))
}
