//! Seen: a file as it was when it was read, so that a change is noticed however it came about.

use crate::{jsonc, regular_file::read_regular};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

/// A file, or a place where one could be, as it was at some moment.
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
    /// The file as it is now.
    pub fn now(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let stamp = stamp(&path);
        Self { path, stamp }
    }

    /// Whether it is different now.
    pub(super) fn has_changed(&self) -> bool {
        stamp(&self.path) != self.stamp
    }
}

/// Content is compared, not times: an editor that writes the same again changes nothing, and two writes within one tick of
/// the clock are two.
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
