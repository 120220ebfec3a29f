//! File names, and paths made of file names.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// A single path component: not empty, not `.` or `..`, without `/` and NUL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(OsString);

/// A path below a root, made of plain names only. Empty means the root itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RelPath(Vec<Name>);

impl Name {
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let plain =
            !matches!(bytes, b"" | b"." | b"..") && !bytes.iter().any(|byte| matches!(byte, b'/' | 0));
        plain.then(|| Self(OsStr::from_bytes(bytes).to_owned()))
    }

    pub fn as_os_str(&self) -> &OsStr {
        &self.0
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl RelPath {
    pub fn new(names: Vec<Name>) -> Self {
        Self(names)
    }

    pub fn names(&self) -> &[Name] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Everything before the last name, and the last name.
    pub fn split_last(&self) -> Option<(&Name, &[Name])> {
        self.0.split_last()
    }

    #[must_use]
    pub fn join(&self, name: &Name) -> Self {
        let mut names = self.0.clone();
        names.push(name.clone());
        Self(names)
    }

    /// This path relative to `prefix`; `None` if it is not below it.
    pub fn below(&self, prefix: &Self) -> Option<Self> {
        self.0.strip_prefix(prefix.0.as_slice()).map(|rest| Self(rest.to_vec()))
    }

    /// The names joined by `/`, for system calls.
    pub fn to_os_string(&self) -> OsString {
        joined(&self.0)
    }
}

impl FromIterator<Name> for RelPath {
    fn from_iter<T: IntoIterator<Item = Name>>(names: T) -> Self {
        Self(names.into_iter().collect())
    }
}

pub(super) fn joined(names: &[Name]) -> OsString {
    names.iter().map(Name::as_os_str).collect::<Vec<_>>().join(OsStr::new("/"))
}
