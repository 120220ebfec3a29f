//! Configuration files: finding them, and checking their permissions.

use std::path::{Path, PathBuf};

/// Name of the configuration file.
pub const FILE_NAME: &str = "trunkline.json";

/// The nearest configuration file in a directory or above it.
pub fn find_upwards(from: &Path) -> Option<PathBuf> {
    from.ancestors().map(|directory| directory.join(FILE_NAME)).find(|path| path.is_file())
}

/// True if others than the owner can read a file.
pub(crate) fn others_can_read(path: &Path) -> bool {
    mode(path).is_some_and(|mode| mode & 0o044 != 0)
}

/// True if others than the owner can change a file.
pub(crate) fn others_can_write(path: &Path) -> bool {
    mode(path).is_some_and(|mode| mode & 0o022 != 0)
}

#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|about| about.mode())
}

/// On other systems, files in the user's directories are assumed to be private.
#[cfg(not(unix))]
fn mode(_: &Path) -> Option<u32> {
    None
}
