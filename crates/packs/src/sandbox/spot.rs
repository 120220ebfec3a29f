//! A resolved path: an open parent directory inside a root, and a name in it.

use std::fs::File;

use rustix::fs::Stat;

use super::dir::Dir;
use super::error::AccessError;
use super::kind::Kind;
use super::name::{Name, RelPath};

/// The location of an existing or new entry. Without a name it is the root itself.
#[derive(Clone, Debug)]
pub struct Spot {
    dir: Dir,
    name: Option<Name>,
}

impl Spot {
    pub(super) fn new(dir: Dir, name: Option<Name>) -> Self {
        Self { dir, name }
    }

    /// The directory and the name in it; an error for the root, which has no name.
    pub fn entry(&self) -> Result<(&Dir, &Name), AccessError> {
        self.name.as_ref().map(|name| (&self.dir, name)).ok_or(AccessError::IsRoot)
    }

    /// The directory that holds the entry; the root itself for the root.
    pub(super) fn parent(&self) -> &Dir {
        &self.dir
    }

    pub fn real_path(&self) -> RelPath {
        match &self.name {
            Some(name) => self.dir.path().join(name),
            None => self.dir.path().clone(),
        }
    }

    pub fn label(&self) -> String {
        self.dir.root().label(&self.real_path())
    }

    pub fn stat(&self) -> Result<Stat, AccessError> {
        match &self.name {
            Some(name) => self.dir.stat(name),
            None => self.dir.own_stat(),
        }
    }

    pub fn kind(&self) -> Result<Kind, AccessError> {
        Ok(super::dir::kind_of(&self.stat()?))
    }

    pub fn open_file(&self) -> Result<File, AccessError> {
        match &self.name {
            Some(name) => self.dir.open_file(name),
            None => Err(AccessError::NotAFile { path: self.label(), found: Kind::Directory }),
        }
    }

    pub fn open_dir(&self) -> Result<Dir, AccessError> {
        match &self.name {
            Some(name) => self.dir.open_dir(name),
            None => Ok(self.dir.clone()),
        }
    }
}
