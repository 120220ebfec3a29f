//! Approvals: the project files that the user has agreed to, each as it was when it was shown.
//!
//! A file that was merely found comes with the project, so a stranger may have written it. Nothing
//! of it takes effect before the user agreed to exactly this content at exactly this path; a
//! changed file waits again. The user's own file, and one that was named, need no approval.

use crate::regular_file::read_regular_text;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
};

/// A file found upwards from the current directory, as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundFile {
    pub path: PathBuf,
    /// The hash of its content, as `sha256sum` prints it.
    pub sha256: String,
}

/// The files that were agreed to: for each path the hash of the content. Earlier contents of a
/// path do not count any more.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Approvals {
    #[serde(default)]
    files: BTreeMap<String, String>,
}

/// The most bytes that are read of the file of approvals.
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
    /// Those that a file holds; none where there is no file.
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
        // A path that is not text cannot be told apart from others when it is written down.
        let known = found.path.to_str().and_then(|path| self.files.get(path));
        known.is_some_and(|sha256| *sha256 == found.sha256)
    }

    /// Agrees to a file as it was read. `false`: its path is not text and cannot be kept.
    #[must_use]
    pub fn approve(&mut self, found: &FoundFile) -> bool {
        let Some(path) = found.path.to_str() else { return false };
        self.files.insert(path.to_owned(), found.sha256.clone());
        true
    }
}
