//! Seen: the recorded state of a file, to detect any kind of change.

use crate::{jsonc, regular_file::read_regular};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

/// The state of a file, or of a path where one could be, at some moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    pub path: PathBuf,
    stamp: Stamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stamp {
    Missing,
    Unreadable,
    Content(u64),
}

impl Seen {
    /// Records the current state of the file.
    pub fn now(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let stamp = stamp(&path);
        Self { path, stamp }
    }

    /// True if the file differs from the recorded state.
    pub(super) fn has_changed(&self) -> bool {
        stamp(&self.path) != self.stamp
    }
}

/// Content is compared, not the modification time: rewriting the same content is no change, and
/// two writes within one clock tick are distinguished.
fn stamp(path: &Path) -> Stamp {
    let content = match read_regular(path, jsonc::MAX_BYTES as u64) {
        Ok(content) => content,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Stamp::Missing,
        Err(_) => return Stamp::Unreadable,
    };
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    Stamp::Content(hasher.finish())
}
