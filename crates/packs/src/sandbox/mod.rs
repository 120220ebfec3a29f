//! Files below a few pinned directories, and nothing else.
//!
//! A *root* is a directory that was opened once, at start; what happens to its path later does not matter. A path that a
//! caller names is only text until it is a [`Spot`]: an opened parent directory inside a root plus one name. Every effect
//! (open, create, rename, unlink, list) is done relative to that descriptor and never follows a link in the name, so
//! swapping a parent for a symbolic link at any moment changes nothing outside. The kernel walks paths without links by
//! `openat2`; links are followed here, one component at a time, and only as long as they stay inside the root.
//!
//! What this module does not do: it cannot tell a hard link to an outside file from a file (see [`HardLinks`]), and a
//! directory that somebody else moves out of the root while it is open stays open.

mod dir;
mod draft;
mod error;
mod input;
mod kind;
mod label;
mod landlock;
mod leftovers;
mod name;
mod protected;
mod resolve;
mod root;
mod roots;
mod spot;

pub(crate) use dir::kind_of;
pub use dir::{Dir, Entry};
pub use draft::{Draft, Durability, Like, Onto};
pub use error::AccessError;
pub use input::{BadPath, MAX_PATH_BYTES};
pub use kind::Kind;
pub use label::{escape, escape_bytes};
pub use landlock::{Reads, Restriction, RestrictionFailed, restrict_process};
pub use name::{Name, RelPath};
pub use protected::{BadPattern, Protected};
pub use root::Root;
pub use roots::Roots;
pub use spot::Spot;

use protected::Renames;
use resolve::{Last, Missing};

/// Whether files with more than one name are read. Such a file may have its other name outside the root, and no check can
/// tell. Writing never reaches the other name in either case: whole files are replaced by new ones, and appending to a
/// file with several names is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HardLinks {
    /// Read them; package managers fill whole trees with hard links.
    #[default]
    Read,
    Refuse,
}

/// What somebody wants to do with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Links are followed inside the root; secrets are refused.
    Read,
    /// As `Read`, but a link in the last place is looked at itself.
    Look,
    /// The entry itself is meant, not what a link points to; protected places are refused.
    Change,
    /// As `Change`, and missing parent directories are made.
    Create,
    /// As `Change`, for a name that appears or disappears with everything below it.
    Rename,
}

/// The roots together with the rules about what inside them is off limits.
#[derive(Clone, Debug)]
pub struct Sandbox {
    roots: Roots,
    protected: Protected,
    hard_links: HardLinks,
}

impl Sandbox {
    pub fn new(roots: Roots, protected: Protected, hard_links: HardLinks) -> Self {
        Self { roots, protected, hard_links }
    }

    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    pub fn protected(&self) -> &Protected {
        &self.protected
    }

    pub fn hard_links(&self) -> HardLinks {
        self.hard_links
    }

    /// The place that `path` names, if it may be used for `purpose`. The rules are applied to the path as written, before
    /// anything is touched, and to the real path that was reached.
    pub fn spot(&self, path: &str, purpose: Purpose) -> Result<Spot, AccessError> {
        let (root, path) = self.roots.find(path)?;
        self.check(&path, &root, purpose)?;
        let may_make = |made: &RelPath| self.check(made, &root, purpose);
        let (last, missing) = match purpose {
            Purpose::Read => (Last::Follow, Missing::Refuse),
            Purpose::Look | Purpose::Change | Purpose::Rename => (Last::Keep, Missing::Refuse),
            Purpose::Create => (Last::Keep, Missing::Create(&may_make)),
        };
        let spot = resolve::resolve(&root, &path, last, missing)?;
        self.check(&spot.real_path(), &root, purpose)?;
        Ok(spot)
    }

    fn check(&self, path: &RelPath, root: &Root, purpose: Purpose) -> Result<(), AccessError> {
        let found = match purpose {
            Purpose::Read | Purpose::Look => self.protected.from_reading(path),
            Purpose::Change | Purpose::Create => self.protected.from_changing(path),
            Purpose::Rename => self.protected.from_renaming(path),
        };
        match found.or_else(|| self.guarding(path, root, purpose)) {
            Some(pattern) => {
                Err(AccessError::Protected { path: root.label(path), pattern: pattern.to_owned() })
            }
            None => Ok(()),
        }
    }

    fn guarding(&self, path: &RelPath, root: &Root, purpose: Purpose) -> Option<&str> {
        let renames = match purpose {
            Purpose::Read | Purpose::Look => return None,
            Purpose::Change | Purpose::Create => Renames::No,
            Purpose::Rename => Renames::Yes,
        };
        self.protected.guarding(&root.absolute(path), renames)
    }
}
