//! Refuses git's own files if they have credentials in them: a remote's URL may have a token.
//!
//! The whole file is refused instead of masked, because a part of it, its bytes or a search in it
//! would still reveal the token.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::sandbox::{Dir, Name, is_git_name};
use trunkline_secrets::{Caution, Mask};
use trunkline_toolbox::ToolError;

/// Settings files of a git directory of any name, and of the user.
const SETTINGS: [&[u8]; 3] = [b"config", b"config.worktree", b".gitconfig"];

/// Bytes of a file that are examined. Settings files beyond this are refused.
const EXAMINED: usize = 1 << 20;

const MASK: Mask = Mask::new("***", Caution::Readable);

/// Refuses a file of git that has credentials in it.
pub(crate) fn refuse(dir: &Dir, name: &Name, file: &File) -> Result<(), ToolError> {
    let is_setting = SETTINGS.contains(&name.as_bytes().to_ascii_lowercase().as_slice())
        && (name.as_bytes().starts_with(b".") || dir.is_git_directory());
    let is_inside = dir.path().names().iter().any(|name| is_git_name(name.as_bytes()));
    if !is_setting && !is_inside {
        return Ok(());
    }
    let label = dir.label(name);
    let mut bytes = vec![0; EXAMINED];
    let mut length = 0;
    while length < bytes.len() {
        match file.read_at(&mut bytes[length..], length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) => return Err(super::io_failed(error, &label)),
        }
    }
    let text = String::from_utf8_lossy(&bytes[..length]);
    if MASK.hide(&text) != text || is_setting && length == EXAMINED {
        return Err(ToolError::new(format!("`{label}` contains credentials and is not read here"))
            .hint("use the git tools, which leave them out, or ask the operator"));
    }
    Ok(())
}
