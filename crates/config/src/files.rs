//! Files of the configuration: where they are, and who else can read or change them.

use std::path::{Path, PathBuf};

/// What the file is called, wherever it is.
pub const FILE_NAME: &str = "trunkline.json";

/// The nearest file with our name, upwards from a directory.
pub fn find_upwards(from: &Path) -> Option<PathBuf> {
    from.ancestors().map(|directory| directory.join(FILE_NAME)).find(|path| path.is_file())
}

/// Whether anybody but the owner can read a file.
pub(crate) fn others_can_read(path: &Path) -> bool {
    mode(path).is_some_and(|mode| mode & 0o044 != 0)
}

/// Whether anybody but the owner can change a file.
pub(crate) fn others_can_write(path: &Path) -> bool {
    mode(path).is_some_and(|mode| mode & 0o022 != 0)
}

#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|about| about.mode())
}

/// Elsewhere, files in the user's directories are the user's own.
#[cfg(not(unix))]
fn mode(_: &Path) -> Option<u32> {
    None
}
