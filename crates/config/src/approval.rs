//! Approvals: the project files that the user approved, each by path and content.
//!
//! A found file comes with the project, so a stranger may have written it. It has no effect until
//! the user approves exactly this content at exactly this path; a changed file must be approved
//! again. The user's own file, and one named explicitly, need no approval.

use crate::regular_file::read_regular_text;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
};

/// A file found in the current directory or above it, with the hash of its content when read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundFile {
    pub path: PathBuf,
    /// The hash of its content, as `sha256sum` prints it.
    pub sha256: String,
}

/// The approved files: for each path the hash of its content. A new approval replaces the earlier
/// one of the same path.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Approvals {
    #[serde(default)]
    files: BTreeMap<String, String>,
}

/// Maximum size of the file of approvals.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

impl FoundFile {
    pub(crate) fn new(path: &Path, text: &str) -> Self {
        let hash = Sha256::digest(text.as_bytes());
        let sha256 = hash.iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("a String takes any text");
            hex
        });
        Self { path: path.to_owned(), sha256 }
    }
}

impl Approvals {
    /// Reads the approvals from a file; empty if it does not exist.
    pub fn read(path: &Path) -> io::Result<Self> {
        match read_regular_text(path, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
            Ok(text) => serde_json::from_str(&text).map_err(io::Error::other),
        }
    }

    pub fn write(&self, path: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        crate::write::overwrite(path, &text)
    }

    pub fn has(&self, found: &FoundFile) -> bool {
        // A path that is not UTF-8 cannot be stored unambiguously, so it is never approved.
        let known = found.path.to_str().and_then(|path| self.files.get(path));
        known.is_some_and(|sha256| *sha256 == found.sha256)
    }

    /// Approves a file as it was read. Returns false if its path is not UTF-8.
    #[must_use]
    pub fn approve(&mut self, found: &FoundFile) -> bool {
        let Some(path) = found.path.to_str() else { return false };
        self.files.insert(path.to_owned(), found.sha256.clone());
        true
    }
}
