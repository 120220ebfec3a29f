//! Confines file access to a few pinned directories.
//!
//! A *root* is a directory that is opened once, at start; later changes of its path have no
//! effect. A path from a caller is resolved to a [`Spot`]: an open parent directory inside a root
//! plus one name. Every operation (open, create, rename, unlink, list) is relative to that
//! descriptor and does not follow a link in the name, so replacing a parent by a symbolic link at
//! any moment affects nothing outside. Paths without links are resolved by the kernel (`openat2`).
//! Links are followed by this module, one component at a time, and only inside the root.
//!
//! Limits: a hard link to a file outside cannot be distinguished from a file inside (see
//! [`HardLinks`]), and a directory that another process moves out of the root while it is open
//! stays open.

mod dir;
mod draft;
mod error;
mod git_directory;
mod guarded;
mod input;
mod kind;
mod label;
mod landlock;
mod leftovers;
mod lock;
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
pub(crate) use guarded::{Guarded, is_git_name};
pub use input::{BadPath, MAX_PATH_BYTES};
pub use kind::Kind;
pub use label::{escape, escape_bytes};
pub use landlock::restrict_process;
pub use leftovers::sweep_all;
pub use lock::FileLock;
pub use name::{Name, RelPath};
pub use protected::{BadPattern, Protected};
pub use root::Root;
pub(crate) use root::names;
pub use roots::Roots;
pub use spot::Spot;
pub use trunkline_process::{Reads, Restriction, RestrictionFailed};

use protected::Renames;
use resolve::{Last, Missing};

/// The rule named in the error for a path in a git directory that is not called `.git`.
const GIT_DIRECTORY: &str = "git directory";

/// Determines whether files with several hard links are read. Another link may be outside the
/// root, which cannot be detected. Writes never affect the other link: whole files are replaced by
/// new ones, and appending to a file with several hard links is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HardLinks {
    /// Read them; package managers fill whole trees with hard links.
    #[default]
    Read,
    Refuse,
}

/// The intended use of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Links are followed inside the root; secrets are refused.
    Read,
    /// Same as `Read`, but a link as the last component is not followed.
    Look,
    /// A link as the last component is not followed; protected paths are refused.
    Change,
    /// Same as `Change`; missing parent directories are created.
    Create,
    /// Same as `Change`, for a name that appears or disappears with everything below it.
    Rename,
}

/// The roots, with the rules for protected paths inside them.
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

    /// True if a path below a root may not be read.
    pub fn hides(&self, root: &Root, path: &RelPath) -> bool {
        self.protected.from_reading(path).is_some() || self.protected.hiding(&root.absolute(path)).is_some()
    }

    pub fn hard_links(&self) -> HardLinks {
        self.hard_links
    }

    /// Resolves `path`, if it may be used for `purpose`. The rules are applied to the path as
    /// given, before any file access, and again to the real path.
    pub fn spot(&self, path: &str, purpose: Purpose) -> Result<Spot, AccessError> {
        let (root, path) = self.roots.find(path)?;
        self.check(&path, &root, purpose)?;
        let may_make = |made: &Spot| self.check_spot(made, &root, purpose);
        let (last, missing) = match purpose {
            Purpose::Read => (Last::Follow, Missing::Refuse),
            Purpose::Look | Purpose::Change | Purpose::Rename => (Last::Keep, Missing::Refuse),
            Purpose::Create => (Last::Keep, Missing::Create(&may_make)),
        };
        let spot = resolve::resolve(&root, &path, last, missing)?;
        self.check_spot(&spot, &root, purpose)?;
        Ok(spot)
    }

    /// Checks a resolved path: also for git directories of any name.
    fn check_spot(&self, spot: &Spot, root: &Root, purpose: Purpose) -> Result<(), AccessError> {
        self.check(&spot.real_path(), root, purpose)?;
        match purpose {
            Purpose::Read | Purpose::Look => Ok(()),
            Purpose::Change | Purpose::Create | Purpose::Rename => not_of_git(spot),
        }
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
            Purpose::Read | Purpose::Look => return self.protected.hiding(&root.absolute(path)),
            Purpose::Change | Purpose::Create => Renames::No,
            Purpose::Rename => Renames::Yes,
        };
        self.protected.guarding(&root.absolute(path), renames)
    }
}

fn not_of_git(spot: &Spot) -> Result<(), AccessError> {
    if git_directory::holds(spot) { Err(of_git(spot.label())) } else { Ok(()) }
}

/// The error for a path in a git directory.
pub(crate) fn of_git(path: String) -> AccessError {
    AccessError::Protected { path, pattern: GIT_DIRECTORY.to_owned() }
}
