//! One allowed directory, pinned by its descriptor.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags};

use super::dir::Dir;
use super::error::AccessError;
use super::label::escape_bytes;
use super::name::{Name, RelPath};
use super::resolve::WALK;

/// A directory that was opened once. It stays the same directory even if its path is deleted or
/// replaced later.
#[derive(Debug)]
pub struct Root {
    fd: Arc<OwnedFd>,
    path: PathBuf,
    real: RelPath,
    given: RelPath,
    /// Prefix of paths in labels; `None` for the first root, whose paths are shown as relative.
    prefix: Option<String>,
}

impl Root {
    pub(super) fn open(path: &Path, position: usize) -> Result<Self, AccessError> {
        let shown = || escape_bytes(path.as_os_str().as_encoded_bytes());
        let given = std::path::absolute(path).map_err(|error| AccessError::from_io(error, shown()))?;
        let real = path.canonicalize().map_err(|error| AccessError::from_io(error, shown()))?;
        let fd = rustix::fs::openat(CWD, &real, WALK | OFlags::DIRECTORY | OFlags::NOFOLLOW, Mode::empty())
            .map_err(|errno| AccessError::from_errno(errno, shown()))?;
        let own = names(&real).ok_or_else(|| AccessError::Outside { path: shown() })?;
        let given = names(&given).unwrap_or_else(|| own.clone());
        Ok(Self::new(Arc::new(fd), real, own, given, position))
    }

    pub(super) fn new(
        fd: Arc<OwnedFd>,
        path: PathBuf,
        real: RelPath,
        given: RelPath,
        position: usize,
    ) -> Self {
        let prefix = (position > 0).then(|| escape_bytes(path.as_os_str().as_encoded_bytes()));
        Self { fd, path, real, given, prefix }
    }

    /// Its path when it was opened, with links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The label of a path in this root, which callers can pass as a path.
    pub fn label(&self, path: &RelPath) -> String {
        let inside = escape_bytes(path.to_os_string().as_encoded_bytes());
        match (&self.prefix, path.is_empty()) {
            (None, true) => ".".to_owned(),
            (None, false) => inside,
            (Some(prefix), true) => prefix.clone(),
            (Some(prefix), false) => format!("{}/{inside}", prefix.trim_end_matches('/')),
        }
    }

    pub(super) fn top(self: &Arc<Self>) -> Dir {
        Dir::new(Arc::clone(self), Arc::clone(&self.fd), RelPath::default())
    }

    /// An absolute path relative to this root, and the number of names in the root's own path.
    pub(super) fn inside(&self, absolute: &RelPath) -> Option<(usize, RelPath)> {
        [&self.real, &self.given]
            .into_iter()
            .find_map(|own| absolute.below(own).map(|rest| (own.names().len(), rest)))
    }

    /// A path below this root as an absolute path.
    pub(super) fn absolute(&self, path: &RelPath) -> RelPath {
        self.real.names().iter().chain(path.names()).cloned().collect()
    }

    pub(super) fn real(&self) -> &RelPath {
        &self.real
    }
}

/// The names of an absolute path; `None` if it is not a plain one.
pub(crate) fn names(path: &Path) -> Option<RelPath> {
    path.strip_prefix("/").ok()?.iter().map(|part| Name::new(part.as_encoded_bytes())).collect::<Option<_>>()
}
