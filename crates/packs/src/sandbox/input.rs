//! Parses paths given by callers.

use thiserror::Error;

use super::label::{escape, unescape};
use super::name::{Name, RelPath};

/// Maximum length of a path in bytes; the same as in Linux.
pub const MAX_PATH_BYTES: usize = 4096;
const MAX_NAME_BYTES: usize = 255;
const SHOWN_CHARS: usize = 80;

/// A path as given: absolute, or relative to a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Absolute(RelPath),
    Relative(RelPath),
}

/// An invalid path.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadPath {
    #[error("the path is empty")]
    Empty,
    #[error("the path has {0} bytes, more than the {MAX_PATH_BYTES} allowed")]
    TooLong(usize),
    #[error("a name in the path has {0} bytes, more than the {MAX_NAME_BYTES} allowed")]
    NameTooLong(usize),
    #[error("the path `{0}` contains a NUL byte")]
    Nul(String),
    #[error("the path `{0}` contains `..`")]
    Parent(String),
    #[error("the path `{0}` begins with `~`, which is not expanded")]
    Home(String),
    #[error("the path `{0}` is a Windows drive or network path")]
    Windows(String),
    #[error("the path `{0}` contains a backslash")]
    Backslash(String),
}

impl BadPath {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty => "use `.` for the allowed directory itself",
            Self::TooLong(_) | Self::NameTooLong(_) => "shorten the path",
            Self::Nul(_) => "remove the NUL byte",
            Self::Parent(_) => "write the path from the allowed directory downwards, without `..`",
            Self::Home(_) => {
                "write a path relative to the allowed directory; for a file whose name begins with `~`, write `./~…`"
            }
            Self::Windows(_) => "write a path relative to the allowed directory, with `/` between names",
            Self::Backslash(_) => {
                "write `/` between names; special characters in a name are written `\\xHH` as listings show them"
            }
        }
    }
}

pub(super) fn parse(text: &str) -> Result<Wanted, BadPath> {
    if text.is_empty() {
        return Err(BadPath::Empty);
    }
    if text.len() > MAX_PATH_BYTES {
        return Err(BadPath::TooLong(text.len()));
    }
    if text.contains('\0') {
        return Err(BadPath::Nul(shown(text)));
    }
    if text.starts_with('~') {
        return Err(BadPath::Home(shown(text)));
    }
    if is_windows(text) {
        return Err(BadPath::Windows(shown(text)));
    }
    let names = text.split('/').filter(|part| !matches!(*part, "" | ".")).map(|part| name(part, text));
    let path = names.collect::<Result<RelPath, _>>()?;
    Ok(if text.starts_with('/') { Wanted::Absolute(path) } else { Wanted::Relative(path) })
}

/// Parses one component. Escapes are decoded after the path is split, so that an escaped `/` or
/// `..` is refused like a plain one.
fn name(part: &str, text: &str) -> Result<Name, BadPath> {
    let bytes = unescape(part).ok_or_else(|| BadPath::Backslash(shown(text)))?;
    if bytes.len() > MAX_NAME_BYTES {
        return Err(BadPath::NameTooLong(bytes.len()));
    }
    if bytes.contains(&0) {
        return Err(BadPath::Nul(shown(text)));
    }
    Name::new(&bytes).ok_or_else(|| match bytes.as_slice() {
        b"." | b".." => BadPath::Parent(shown(text)),
        _ => BadPath::Backslash(shown(text)),
    })
}

fn is_windows(text: &str) -> bool {
    let drive = matches!(text.as_bytes(), [letter, b':', rest @ ..]
        if letter.is_ascii_alphabetic() && matches!(rest.first(), None | Some(b'/' | b'\\')));
    drive || text.starts_with("\\\\") || text.starts_with("//?/") || text.starts_with("//./")
}

fn shown(text: &str) -> String {
    let mut shown = escape(&text.chars().take(SHOWN_CHARS).collect::<String>());
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
