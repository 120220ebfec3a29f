//! Options of the pack.

use std::path::PathBuf;
use std::time::Duration;

use crate::sandbox::{Durability, HardLinks, Protected};

/// Allowed directories and access rights.
#[derive(Clone, Debug, Default)]
pub struct FilesystemOptions {
    /// The allowed directories. Relative paths start at the first one.
    pub roots: Vec<PathBuf>,
    pub access: Access,
    pub protected: Protected,
    pub hard_links: HardLinks,
    pub durability: Durability,
    pub caps: Caps,
}

/// Determines whether tools that change files are offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    #[default]
    ReadOnly,
    ReadWrite,
}

/// Limits on the input and output of one call.
#[derive(Clone, Debug)]
pub struct Caps {
    /// Maximum bytes of file content or names in one answer.
    pub read_bytes: usize,
    /// Default number of lines in one answer of `read_file`.
    pub read_lines: u64,
    /// Files up to this size are read completely for their line count and hash.
    pub scan_bytes: u64,
    /// Maximum number of files in one call of `read_multiple_files`.
    pub files: usize,
    pub media_bytes: u64,
    /// Maximum bytes of one write, and maximum size of a file to edit.
    pub write_bytes: u64,
    pub copy_bytes: u64,
    /// Maximum bytes of a diff.
    pub diff_bytes: usize,
    /// Maximum number of entries in one list or tree.
    pub entries: usize,
    /// Maximum number of entries that one walk examines.
    pub walked: usize,
    /// Maximum number of results of one search.
    pub results: usize,
    /// Larger files are skipped by content search.
    pub searched_bytes: u64,
    pub depth: usize,
    /// Maximum number of entries that one recursive deletion may remove.
    pub deleted: usize,
    /// Time limit of one call; results found until then are returned.
    pub time: Duration,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            read_bytes: 64 << 10,
            read_lines: 2000,
            scan_bytes: 16 << 20,
            files: 32,
            media_bytes: 5 << 20,
            write_bytes: 8 << 20,
            copy_bytes: 1 << 30,
            diff_bytes: 48 << 10,
            entries: 1000,
            walked: 200_000,
            results: 500,
            searched_bytes: 16 << 20,
            depth: 32,
            deleted: 10_000,
            time: Duration::from_secs(15),
        }
    }
}
