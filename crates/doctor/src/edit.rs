//! An edit that fixes a problem. It is shown as a diff first, applied atomically, and never
//! follows a symbolic link.

use super::diagnosis::Diagnosis;
use std::{
    fmt::Write as _,
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Read, Write as _},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};
use trunkline_secrets::counted;

/// Larger files are not edited.
const LARGEST: u64 = 16 * 1024 * 1024;
/// Maximum number of changed lines in a diff.
const SHOWN: usize = 6;

/// A change to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Changes the file's permissions.
    Mode { path: PathBuf, from: u32, to: u32 },
    /// Replaces the file's contents.
    Text { path: PathBuf, from: String, to: String },
}

/// The reason why an edit was not applied.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("it is a symbolic link, or reached through one")]
    Link,
    #[error("it is not a regular file")]
    NotAFile,
    #[error("it has changed in the meantime")]
    Changed,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Edit {
    /// The edits that would fix the problems of this diagnosis.
    pub fn of(diagnosis: &Diagnosis) -> Vec<Self> {
        let problems = diagnosis.problem.iter().chain(&diagnosis.warnings);
        problems.filter_map(|problem| problem.edit.clone()).collect()
    }

    pub fn path(&self) -> &Path {
        match self {
            Self::Mode { path, .. } | Self::Text { path, .. } => path,
        }
    }

    /// The edit as a diff.
    pub fn diff(&self) -> String {
        match self {
            Self::Mode { path, from, to } => {
                format!("--- {0}\n+++ {0}\n-mode {from:04o}\n+mode {to:04o}", path.display())
            }
            Self::Text { path, from, to } => {
                let changed: Vec<(&str, &str)> =
                    from.split('\n').zip(to.split('\n')).filter(|(old, new)| old != new).collect();
                let mut out = format!("--- {0}\n+++ {0}", path.display());
                for (old, new) in changed.iter().take(SHOWN) {
                    write!(out, "\n-{old}\n+{new}").expect("a String takes any text");
                }
                if changed.len() > SHOWN {
                    write!(out, "\n… and {}", counted(changed.len() - SHOWN, "more line"))
                        .expect("a String takes any text");
                }
                out
            }
        }
    }

    /// Applies the edit.
    pub fn apply(&self) -> Result<(), EditError> {
        let mut file = open(self.path())?;
        let metadata = file.metadata()?;
        match self {
            Self::Mode { from, to, .. } => {
                if metadata.permissions().mode() & 0o7777 != *from {
                    return Err(EditError::Changed);
                }
                // On the open descriptor, so that the path cannot be swapped for another file
                // meanwhile.
                Ok(file.set_permissions(Permissions::from_mode(*to))?)
            }
            Self::Text { path, from, to } => {
                let mut now = String::new();
                (&mut file).take(LARGEST).read_to_string(&mut now)?;
                if now != *from {
                    return Err(EditError::Changed);
                }
                replace(path, to, &metadata)
            }
        }
    }
}

/// Opens a regular file, if neither it nor a directory on its path is a symbolic link.
fn open(path: &Path) -> Result<File, EditError> {
    let parent = path.parent().ok_or(EditError::NotAFile)?;
    let real = fs::canonicalize(parent)?;
    let name = path.file_name().ok_or(EditError::NotAFile)?;
    if real != std::path::absolute(parent)? || fs::symlink_metadata(path)?.file_type().is_symlink() {
        return Err(EditError::Link);
    }
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(
            rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
                | rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
        )
        .open(real.join(name))?;
    if !file.metadata()?.is_file() {
        return Err(EditError::NotAFile);
    }
    Ok(file)
}

/// Writes a temporary file in the same directory and renames it over the old one.
fn replace(path: &Path, text: &str, old: &fs::Metadata) -> Result<(), EditError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.trunkline-{}", std::process::id()));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(old.permissions())?;
        file.sync_all()?;
        // Another process may have changed the old file while we wrote.
        let now = fs::symlink_metadata(path)?;
        if (now.ino(), now.dev(), now.mtime_nsec()) != (old.ino(), old.dev(), old.mtime_nsec()) {
            return Err(EditError::Changed);
        }
        Ok(fs::rename(&beside, path)?)
    })();
    if written.is_err() {
        // The temporary file may not even exist.
        fs::remove_file(&beside).ok();
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(folder.path()).unwrap().join("x");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        (folder, path)
    }

    #[test]
    fn modes_and_texts_are_changed_and_permissions_kept() {
        let (_folder, path) = file("a\r\nb\r\n");
        let edit = Edit::Text { path: path.clone(), from: "a\r\nb\r\n".into(), to: "a\nb\n".into() };
        assert!(edit.diff().contains("-a\r\n+a"));
        edit.apply().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\nb\n");
        Edit::Mode { path: path.clone(), from: 0o644, to: 0o755 }.apply().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o755);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn k02_links_and_changed_files_are_left_alone() {
        let (_folder, path) = file("a");
        let link = path.with_file_name("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let through = Edit::Mode { path: link.clone(), from: 0o644, to: 0o777 };
        assert!(matches!(through.apply(), Err(EditError::Link)));
        let behind = path.parent().unwrap().with_file_name(format!("{}-link", std::process::id()));
        std::os::unix::fs::symlink(path.parent().unwrap(), &behind).unwrap();
        let edit = Edit::Text { path: behind.join("x"), from: "a".into(), to: "b".into() };
        let outcome = edit.apply();
        fs::remove_file(&behind).unwrap();
        assert!(matches!(outcome, Err(EditError::Link)));
        let stale = Edit::Text { path: path.clone(), from: "other".into(), to: "b".into() };
        assert!(matches!(stale.apply(), Err(EditError::Changed)));
        assert!(matches!(
            Edit::Mode { path: path.clone(), from: 0o600, to: 0o777 }.apply(),
            Err(EditError::Changed)
        ));
        assert_eq!(fs::read_to_string(&path).unwrap(), "a");
    }
}
