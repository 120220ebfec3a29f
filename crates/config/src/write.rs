//! Replaces a file atomically, and keeps a backup.

use crate::{regular_file::read_regular_text, secret::Secret};
use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// Maximum size of a file that is replaced; this includes the files of other clients.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Writes a file atomically, and returns the path of the backup of its previous content. `before`
/// is the content that the change is based on: if the file differs by now, it is not touched.
pub fn replace(path: &Path, before: Option<&str>, text: &str) -> io::Result<Option<PathBuf>> {
    // Keep a symbolic link, and replace the file it points to.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let now = match read_regular_text(&path, MAX_BYTES) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if now.as_deref() != before {
        return Err(io::Error::other("somebody changed it in the meantime"));
    }
    let backup = match &now {
        Some(old) => Some(keep(&path, old)?),
        None => None,
    };
    overwrite(&path, text).map(|()| backup)
}

/// Writes a file atomically. Permissions are kept; a new file is accessible by its owner only.
pub fn overwrite(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let new = beside(path, &format!("{}.new", std::process::id()));
    let written = write_new(&new, text).and_then(|()| {
        if let Ok(about) = fs::metadata(path) {
            fs::set_permissions(&new, about.permissions())?;
        }
        fs::rename(&new, path)
    });
    if written.is_err() {
        // Report the first error, not one of the cleanup.
        fs::remove_file(&new).unwrap_or_default();
    }
    written
}

/// Writes a secret to a file that only its owner can read. An existing file must have the same
/// content.
pub fn write_secret(path: &Path, secret: &Secret) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        make_private(directory)?;
    }
    match write_new(path, secret.expose()) {
        Err(error)
            if error.kind() == io::ErrorKind::AlreadyExists
                && read_regular_text(path, MAX_BYTES)? == secret.expose() =>
        {
            Ok(())
        }
        written => written,
    }
}

/// Creates a directory that only its owner can access.
fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Writes a backup next to the file, under an unused name.
fn keep(path: &Path, old: &str) -> io::Result<PathBuf> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let mut last = None;
    for number in 0..100 {
        let copy = beside(path, &format!("{}.bak", seconds + number));
        match write_new(&copy, old) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = Some(error),
            written => return written.map(|()| copy),
        }
    }
    Err(last.unwrap_or_else(|| io::Error::other("no name was free for the copy")))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}.{suffix}"))
}

/// Creates a file that only its owner can read; fails if it exists.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_its_old_text_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sub/trunkline.json");
        assert_eq!(replace(&path, None, "1").unwrap(), None);
        let first = replace(&path, Some("1"), "2").unwrap().unwrap();
        let second = replace(&path, Some("2"), "3").unwrap().unwrap();
        assert_ne!(first, second);
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        assert_eq!((read(&path), read(&first), read(&second)), ("3".into(), "1".into(), "2".into()));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 3, "nothing else is left");
    }

    #[test]
    fn a_file_that_somebody_changed_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "theirs").unwrap();
        assert!(replace(&path, Some("old"), "new").is_err() && replace(&path, None, "new").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "1").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        replace(&link, Some("1"), "2").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_to_string(&real).unwrap(), "2");
    }
}
