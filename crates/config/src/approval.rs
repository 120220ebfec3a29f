//! Approvals: the project files that the user approved, each by path and content.
//!
//! A found file comes with the project, so a stranger may have written it. It has no effect until
//! the user approves exactly this content at exactly this path; a changed file must be approved
//! again. The approved content is stored, so that its restrictions hold while a change waits. The
//! user's own file, and one named explicitly, need no approval.

use crate::{jsonc, regular_file::read_regular_text};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    fs, io,
    path::{Path, PathBuf},
};

/// A file found in the current directory or above it, with the hash of its content when read.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct FoundFile {
    pub path: PathBuf,
    /// The hash of its content, as `sha256sum` prints it.
    pub sha256: String,
    #[serde(skip)]
    text: String,
}

/// The reason why a file could not be approved.
#[derive(Debug, thiserror::Error)]
pub enum NotApproved {
    #[error("the path of the file is not UTF-8")]
    Path,
    #[error("{} cannot be written", .0.display())]
    Write(PathBuf, #[source] io::Error),
    #[error("{} cannot be read", .0.display())]
    Read(PathBuf, #[source] io::Error),
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
        Self { path: path.to_owned(), sha256, text: text.to_owned() }
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

    pub fn has(&self, found: &FoundFile) -> bool {
        self.hash(&found.path).is_some_and(|sha256| *sha256 == found.sha256)
    }

    /// The content that was approved for this path, if it is still stored. `file` is the file of
    /// approvals.
    pub(crate) fn content(&self, file: &Path, path: &Path) -> Option<FoundFile> {
        let sha256 = self.hash(path)?;
        let stored = content_file(file, sha256);
        let text = read_regular_text(&stored, jsonc::MAX_BYTES as u64).ok()?;
        Some(FoundFile::new(&stored, &text)).filter(|found| found.sha256 == *sha256)
    }

    /// A path that is not UTF-8 cannot be stored unambiguously, so it is never approved.
    fn hash(&self, path: &Path) -> Option<&String> {
        path.to_str().and_then(|path| self.files.get(path))
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        crate::write::overwrite(path, &text)
    }
}

/// Approves a file as it was read. `file` is the file of approvals.
pub fn approve(file: &Path, found: &FoundFile) -> Result<(), NotApproved> {
    let path = found.path.to_str().ok_or(NotApproved::Path)?;
    let mut approvals = Approvals::read(file).map_err(|error| NotApproved::Read(file.to_owned(), error))?;
    let unwritable = |path: &Path| {
        let path = path.to_owned();
        move |error| NotApproved::Write(path, error)
    };
    let content = content_file(file, &found.sha256);
    crate::write::overwrite(&content, &found.text).map_err(unwritable(&content))?;
    let before = approvals.files.insert(path.to_owned(), found.sha256.clone());
    approvals.write(file).map_err(unwritable(file))?;
    if let Some(before) = before.filter(|before| approvals.files.values().all(|known| known != before)) {
        // A content that stays is only a leftover: nothing refers to it.
        fs::remove_file(content_file(file, &before)).unwrap_or_default();
    }
    Ok(())
}

/// The file with an approved content, beside the file of approvals.
fn content_file(file: &Path, sha256: &str) -> PathBuf {
    file.with_file_name("approved").join(format!("{sha256}.json"))
}

impl FoundFile {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The names of its servers, as far as it can be read.
    pub fn servers(&self) -> Vec<String> {
        let Ok(tree) = jsonc::parse(&self.text, 0) else { return Vec::new() };
        let servers = tree.at(&["mcp", "servers"]).map(jsonc::Node::entries).unwrap_or_default();
        servers.iter().map(|entry| entry.key.clone()).collect()
    }
}

/// Omits the text, which may hold secrets.
impl fmt::Debug for FoundFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, sha256, .. } = self;
        f.debug_struct("FoundFile").field("path", path).field("sha256", sha256).finish_non_exhaustive()
    }
}
