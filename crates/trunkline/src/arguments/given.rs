//! Parses one argument word, as far as possible without a schema.

use super::BadArgument;
use std::{
    fs::File,
    io::{self, Read},
};
use trunkline_protocol::{Object, Raw};

/// Maximum size of a file of arguments.
const MAX_FILE: u64 = 64 * 1024 * 1024;

/// A parsed argument word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    /// `name=value`.
    Text { name: String, value: String },
    /// `name:=json`.
    Json { name: String, value: Raw },
    /// A JSON object, or `@file` (`@-` for the standard input) with one.
    Members(Object),
}

/// Standard input, which can be read only once.
#[derive(Debug, Default)]
pub(crate) struct Stdin {
    used: bool,
}

impl Given {
    pub(crate) fn read(word: &str, stdin: &mut Stdin) -> Result<Self, BadArgument> {
        if let Some(file) = word.strip_prefix('@') {
            return read_file(file, stdin).map(Self::Members);
        }
        if word.trim_start().starts_with('{') {
            return object(word).map(Self::Members);
        }
        let (name, value) = pair(word).ok_or_else(|| BadArgument::NoArgument(word.to_owned()))?;
        let Some(name) = name.strip_suffix(':') else {
            return Ok(Self::Text { name: name.to_owned(), value: value.to_owned() });
        };
        let bad = |reason: String| BadArgument::NoJson { name: name.to_owned(), reason };
        let raw = Raw::parse(value.to_owned()).map_err(|malformed| bad(malformed.to_string()))?;
        Ok(Self::Json { name: name.to_owned(), value: raw })
    }
}

fn object(word: &str) -> Result<Object, BadArgument> {
    let bad = |reason: &dyn std::fmt::Display| BadArgument::NoJson {
        name: word.to_owned(),
        reason: reason.to_string(),
    };
    let raw = Raw::parse(word.to_owned()).map_err(|malformed| bad(&malformed))?;
    raw.object().ok_or_else(|| bad(&"it is not an object"))
}

/// Splits `name=value`; the name is not empty.
pub(crate) fn pair(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').filter(|(name, _)| !name.is_empty() && *name != ":")
}

fn read_file(file: &str, stdin: &mut Stdin) -> Result<Object, BadArgument> {
    let shown = if file == "-" { "the standard input".to_owned() } else { format!("`{file}`") };
    let content = if file == "-" { stdin.read() } else { File::open(file).and_then(bounded) };
    let content =
        content.map_err(|error| BadArgument::NoFile { file: shown.clone(), reason: error.to_string() })?;
    let raw = Raw::parse(content)
        .map_err(|malformed| BadArgument::NoFile { file: shown.clone(), reason: malformed.to_string() })?;
    raw.object().ok_or(BadArgument::FileWithoutObject(shown))
}

impl Stdin {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        if std::mem::replace(&mut self.used, true) {
            return Err(io::Error::other("it was read already"));
        }
        bounded(io::stdin().lock())
    }
}

fn bounded(source: impl Read) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    source.take(MAX_FILE + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MAX_FILE {
        return Err(io::Error::other(format!("it is larger than {MAX_FILE} bytes")));
    }
    Ok(content)
}
