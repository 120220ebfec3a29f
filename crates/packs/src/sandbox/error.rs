//! Errors of file access.

use std::io;

use rustix::io::Errno;
use thiserror::Error;

use super::input::BadPath;
use super::kind::Kind;

/// A refused or failed access. Paths are labels: relative to the first root, or absolute.
#[derive(Debug, Error)]
pub enum AccessError {
    #[error(transparent)]
    BadPath(#[from] BadPath),
    #[error("`{path}` is outside the allowed directories")]
    Outside { path: String },
    #[error("there is no allowed directory")]
    NoRoots,
    #[error("the allowed directory `{path}` no longer exists")]
    RootGone { path: String },
    #[error("`{path}` goes through the symbolic link `{link}`, which leads out of the allowed directory")]
    LeadsOut { path: String, link: String },
    #[error("`{path}` goes through more than {limit} symbolic links")]
    TooManyLinks { path: String, limit: usize },
    #[error("`{path}` does not exist")]
    Missing { path: String },
    #[error("`{path}` already exists")]
    Exists { path: String },
    #[error("`{path}` is a {found}, not a directory")]
    NotADirectory { path: String, found: Kind },
    #[error("`{path}` is a {found}, not a regular file")]
    NotAFile { path: String, found: Kind },
    #[error("`{path}` is a symbolic link to `{target}`")]
    IsLink { path: String, target: String },
    #[error("`{path}` is on a kernel filesystem such as /proc, not on a disk")]
    KernelFile { path: String },
    #[error("`{path}` is protected by the rule `{pattern}`")]
    Protected { path: String, pattern: String },
    #[error("`{path}` has several names (hard links), and one of them may be outside the allowed directory")]
    HardLinked { path: String },
    #[error("the allowed directory itself cannot be changed")]
    IsRoot,
    #[error("directory `{path}` is not empty")]
    NotEmpty { path: String },
    #[error("`{path}` cannot be moved into itself")]
    IntoItself { path: String },
    #[error("`{path}` is on another filesystem")]
    OtherFilesystem { path: String },
    #[error("`{path}` was changed during the operation")]
    Changed { path: String },
    #[error("`{path}` is locked by another writer")]
    Busy { path: String },
    #[error("no permission for `{path}`")]
    NoPermission { path: String },
    #[error("no space left for `{path}`")]
    NoSpace { path: String },
    #[error("`{path}` failed: {source}")]
    Io { path: String, source: io::Error },
}

impl AccessError {
    /// Advice for the caller.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::BadPath(bad) => bad.hint(),
            Self::Outside { .. } => "call list_allowed_directories to see where files may be",
            Self::NoRoots | Self::RootGone { .. } => {
                "the server has to be started again with an existing directory"
            }
            Self::LeadsOut { .. } | Self::TooManyLinks { .. } => {
                "use a path that does not go through this link"
            }
            Self::Missing { .. } => "list the parent directory or use search_files to find the right path",
            Self::Exists { .. } => "choose another name, or delete the existing entry first",
            Self::NotADirectory { .. } => "name a directory, or use read_file for a file",
            Self::NotAFile { found: Kind::Directory, .. } => "use list_directory to see what is inside",
            Self::NotAFile { .. } | Self::KernelFile { .. } => "only regular files can be read or written",
            Self::IsLink { .. } => "name the target of the link instead",
            Self::Protected { .. } => "leave this path alone; the operator decides what is protected",
            Self::HardLinked { .. } => {
                "write the whole file with write_file, which makes a new file of its own"
            }
            Self::IsRoot => "name something inside it",
            Self::NotEmpty { .. } => "pass recursive: true to delete it with everything inside",
            Self::IntoItself { .. } => "choose a destination outside the moved directory",
            Self::OtherFilesystem { .. } => "use copy_file and then delete_file",
            Self::Changed { .. } => "another program or call is writing there; read it again and retry",
            Self::Busy { .. } => "another call or program is changing it; try again later",
            Self::NoPermission { .. } => "the account that runs the server lacks the permission",
            Self::NoSpace { .. } => "free some space and retry",
            Self::Io { .. } => "check the path with get_file_info and retry",
        }
    }

    pub(super) fn from_errno(errno: Errno, path: String) -> Self {
        match errno {
            Errno::NOENT => Self::Missing { path },
            Errno::EXIST => Self::Exists { path },
            Errno::NOTEMPTY => Self::NotEmpty { path },
            Errno::LOOP => Self::Changed { path },
            Errno::XDEV => Self::OtherFilesystem { path },
            Errno::ACCESS | Errno::PERM | Errno::ROFS => Self::NoPermission { path },
            Errno::NOSPC | Errno::DQUOT => Self::NoSpace { path },
            errno => Self::Io { path, source: errno.into() },
        }
    }

    pub(crate) fn from_io(error: io::Error, path: String) -> Self {
        match Errno::from_io_error(&error) {
            Some(errno) => Self::from_errno(errno, path),
            None => Self::Io { path, source: error },
        }
    }
}
