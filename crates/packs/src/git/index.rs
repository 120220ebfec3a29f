//! Checks the names in a repository's index.
//!
//! Git validates names when it adds them to the index, but not when it reads the index. With an
//! index that was written by other means, `git diff` would show the file `../../secret`.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use super::{failure, repository::Repository};
use crate::sandbox::is_git_name;
use trunkline_toolbox::ToolError;

/// Maximum size of the list of entries in bytes.
const LIST_SIZE: usize = 64 * 1024 * 1024;

/// The mode of a nested repository.
const NESTED: &[u8] = b"160000 ";

/// Refuses an index with an entry that is not a plain path below the top directory. Returns the
/// paths of nested repositories. Git itself lists the entries, so it later reads the same ones.
pub(super) async fn check(repository: &Repository<'_>) -> Result<Vec<PathBuf>, ToolError> {
    let output = repository.read("ls-files").args(["--stage", "-z"]).output_limit(LIST_SIZE).run().await?;
    if !output.is_success() {
        return Err(failure::of(&output));
    }
    if output.truncated() {
        return Err(ToolError::new("the index of this repository is too large to be checked")
            .hint("Ask a person to work with this repository."));
    }
    let mut nested = Vec::new();
    for entry in output.stdout.head.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let tab = entry.iter().position(|byte| *byte == b'\t').ok_or_else(refused)?;
        let name = &entry[tab + 1..];
        if !is_plain(name) {
            return Err(refused());
        }
        if entry.starts_with(NESTED) {
            nested.push(Path::new(OsStr::from_bytes(name)).to_owned());
        }
    }
    Ok(nested)
}

fn is_plain(name: &[u8]) -> bool {
    name.split(|byte| *byte == b'/').all(|part| !matches!(part, b"" | b"." | b"..") && !is_git_name(part))
}

fn refused() -> ToolError {
    ToolError::new("the index of this repository names files that are not part of its work tree")
        .hint("It was not written by git. Ask a person to look at it, or to restore it with `git reset`.")
}
