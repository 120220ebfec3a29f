//! The directory through which documents are exchanged with a server on this machine.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use trunkline_documents::Format;
use trunkline_toolbox::ToolError;

use super::super::input::Source;
use crate::sandbox::{HardLinks, Protected, Roots, Sandbox};

/// Most characters of a file name, without its extension.
const LONGEST_NAME: usize = 100;

/// A private directory, removed with its last clone. Only this user can read it.
#[derive(Debug, Clone)]
pub struct ExchangeFolder {
    folder: Arc<TempDir>,
    path: PathBuf,
    sandbox: Sandbox,
}

/// A document in the folder, removed when dropped.
#[derive(Debug)]
pub(super) struct Deposited {
    _folder: TempDir,
    pub(super) path: PathBuf,
}

impl ExchangeFolder {
    /// The variable that tells `docling-mcp` where to write.
    pub const VARIABLE: &'static str = "CACHE_DIR";

    pub fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("trunkline-docling-").tempdir()?;
        let path = folder.path().canonicalize()?;
        let roots = Roots::open(vec![path.clone()]).map_err(io::Error::other)?;
        let sandbox = Sandbox::new(roots, Protected::default(), HardLinks::default());
        Ok(Self { folder: Arc::new(folder), path, sandbox })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a document under its own name, because the server takes format and title from it.
    pub(super) fn put(&self, bytes: &[u8], format: Format, name: Option<&str>) -> io::Result<Deposited> {
        let folder = tempfile::Builder::new().prefix("in-").tempdir_in(self.folder.path())?;
        let path = self.path.join(folder.path().file_name().unwrap_or_default());
        let path = path.join(file_name(format, name));
        fs::write(&path, bytes)?;
        Ok(Deposited { _folder: folder, path })
    }

    /// Reads a file that the server says it wrote, and removes it. A path outside is refused.
    pub(super) fn take(&self, path: &str, limit: u64) -> Result<Vec<u8>, ToolError> {
        let source = Source::read(&self.sandbox, path, limit);
        self.remove(path);
        Ok(source?.bytes)
    }

    /// Removes a file of this name from the folder itself, wherever the path leads.
    pub(super) fn remove(&self, path: &str) {
        if let Some(name) = Path::new(path).file_name() {
            // A file that is left is removed with the folder.
            fs::remove_file(self.path.join(name)).ok();
        }
    }
}

/// The last part of a name, with only characters that no program takes for something else, and
/// the extension of the format.
fn file_name(format: Format, name: Option<&str>) -> String {
    let name = name.unwrap_or_default();
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let known = format.extensions();
    let extension = known.iter().find(|known| known.eq_ignore_ascii_case(extension)).or(known.first());
    let is_plain = |sign: char| sign.is_alphanumeric() || "-_. ".contains(sign);
    let stem: String = stem.chars().filter(|sign| is_plain(*sign)).take(LONGEST_NAME).collect();
    let stem = match stem.trim_matches(['.', ' ', '-']) {
        "" => "document",
        stem => stem,
    };
    format!("{stem}.{}", extension.copied().unwrap_or("txt"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_name_without_its_path() {
        let named = |name| file_name(Format::Docx, name);
        assert_eq!(named(Some("Report 1.docx")), "Report 1.docx");
        assert_eq!(named(Some("../../etc/pass\nwd")), "passwd.docx");
        assert_eq!(named(Some("a.DOCM")), "a.docm");
        assert_eq!(named(Some("..")), "document.docx");
        assert_eq!(named(None), "document.docx");
        assert_eq!(named(Some(&"ä".repeat(300))).chars().count(), LONGEST_NAME + 5);
    }

    #[test]
    fn only_files_of_the_folder_are_taken() {
        let (folder, outside) = (ExchangeFolder::new().unwrap(), tempfile::tempdir().unwrap());
        let secret = outside.path().join("secret.json");
        fs::write(&secret, "{}").unwrap();
        std::os::unix::fs::symlink(&secret, folder.path().join("link.json")).unwrap();
        fs::write(folder.path().join("good.json"), "{}").unwrap();
        let take = |path: &Path| folder.take(&path.display().to_string(), 1024);
        assert_eq!(take(&folder.path().join("good.json")).unwrap(), b"{}");
        assert!(!folder.path().join("good.json").exists());
        take(&secret).unwrap_err();
        take(&folder.path().join("link.json")).unwrap_err();
        assert!(secret.exists());
        let deposited = folder.put(b"x", Format::Pdf, Some("a.pdf")).unwrap();
        assert_eq!(fs::read(&deposited.path).unwrap(), b"x");
        let path = deposited.path.clone();
        drop(deposited);
        assert!(!path.exists());
    }
}
