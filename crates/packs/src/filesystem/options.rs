//! What the pack is started with.

use std::path::PathBuf;
use std::time::Duration;

use crate::sandbox::{Durability, HardLinks, Protected};

/// Where the tools work and what they may do there.
#[derive(Clone, Debug, Default)]
pub struct FilesystemOptions {
    /// The allowed directories. Relative paths mean the first one.
    pub roots: Vec<PathBuf>,
    pub access: Access,
    pub protected: Protected,
    pub hard_links: HardLinks,
    pub durability: Durability,
    pub caps: Caps,
}

/// Whether the tools that change files are offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    #[default]
    ReadOnly,
    ReadWrite,
}

/// How much one call takes in and gives out.
#[derive(Clone, Debug)]
pub struct Caps {
    /// File content or names in one answer, in bytes.
    pub read_bytes: usize,
    /// Lines in one answer of `read_file` unless the caller asks for fewer or more.
    pub read_lines: u64,
    /// Files up to this size are looked through as a whole for their line count and hash.
    pub scan_bytes: u64,
    /// Files in one call of `read_multiple_files`.
    pub files: usize,
    pub media_bytes: u64,
    /// Content of one write, and the size of a file that can be edited.
    pub write_bytes: u64,
    pub copy_bytes: u64,
    /// Text of a diff.
    pub diff_bytes: usize,
    /// Entries in one listing or tree.
    pub entries: usize,
    /// Entries that one walk looks at.
    pub walked: usize,
    /// Results of one search.
    pub results: usize,
    /// Larger files are passed over when content is searched.
    pub searched_bytes: u64,
    pub depth: usize,
    /// Entries that one recursive deletion may remove.
    pub deleted: usize,
    /// How long one call may work; what was found until then is answered.
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
