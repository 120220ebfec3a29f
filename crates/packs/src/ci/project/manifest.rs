//! Reading the files that describe a project.

use std::{fs::File, io::Read, path::Path};

/// Maximum number of bytes read from a file.
const LIMIT: u64 = 512 * 1024;

/// Maximum number of directory entries examined.
const ENTRIES: usize = 2000;

/// The text of a file; empty if it cannot be read.
pub(super) fn text(path: &Path) -> String {
    let mut bytes = Vec::new();
    // Checked first, because opening a FIFO would block until there is a writer.
    if path.is_file()
        && let Ok(file) = File::open(path)
        && file.take(LIMIT).read_to_end(&mut bytes).is_ok()
    {
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    String::new()
}

/// The first file, by name, with one of these extensions.
pub(super) fn with_ending(directory: &Path, endings: &[&str]) -> Option<String> {
    let entries = std::fs::read_dir(directory).ok()?.take(ENTRIES).flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| endings.iter().any(|ending| name.ends_with(ending))).min()
}
