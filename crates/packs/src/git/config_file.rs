//! The config file of a repository: read with git's own parser, and written with only the allowed
//! settings.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use tokio::time::Instant;

use super::{
    boundary::{Roots, leads_outside},
    environment::Mode,
    invocation::Invocation,
    pack::Git,
};
use trunkline_toolbox::ToolError;

/// Maximum size of a config file in bytes.
const FILE_SIZE: u64 = 512 * 1024;

/// Maximum number of included files.
const INCLUDED: usize = 32;

/// One setting of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfigEntry {
    /// In git's canonical spelling.
    pub(super) key: String,
    /// `None` for a variable without `=`, which means true.
    pub(super) value: Option<Vec<u8>>,
    /// True if the setting is from a conditional include (`includeIf`).
    pub(super) conditional: bool,
}

impl ConfigEntry {
    pub(super) fn text(&self) -> String {
        self.value.as_deref().map_or("true".into(), |value| String::from_utf8_lossy(value).into_owned())
    }

    /// True if git reads the value as true.
    pub(super) fn is_true(&self) -> bool {
        matches!(self.text().to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1")
    }
}

/// The settings in `file` and its includes, in the order in which git reads them. A missing file
/// yields none.
pub(super) async fn read(git: &Git, deadline: Instant, file: &Path) -> Result<Vec<ConfigEntry>, ToolError> {
    let mut entries = Vec::new();
    let mut included = 0;
    // Depth first, so that the settings of an included file are in the position of the include.
    let mut waiting = vec![Pending::File(file.to_owned(), false)];
    while let Some(pending) = waiting.pop() {
        let (path, conditional) = match pending {
            Pending::Entry(entry) => {
                entries.push(entry);
                continue;
            }
            Pending::File(path, conditional) => (path, conditional),
        };
        let listed = parse(git, deadline, contents(&path)?).await?;
        let mut found = Vec::new();
        for (key, value) in listed {
            let include = is_include(&key);
            let conditional = conditional || include == Some(Include::Conditional);
            if include.is_some() {
                included += 1;
                let target = target(git.roots(), &path, value.as_deref().unwrap_or_default())?;
                if included > INCLUDED {
                    return Err(unreadable("too many included files"));
                }
                found.push(Pending::File(target, conditional));
            } else {
                found.push(Pending::Entry(ConfigEntry { key, value, conditional }));
            }
        }
        waiting.extend(found.into_iter().rev());
    }
    Ok(entries)
}

/// Writes `entries` as a config file.
pub(super) fn write<'a>(entries: impl Iterator<Item = &'a ConfigEntry>) -> Vec<u8> {
    let mut text = Vec::new();
    for entry in entries {
        let Some((section, rest)) = entry.key.split_once('.') else { continue };
        let (subsection, variable) =
            rest.rsplit_once('.').map_or((None, rest), |(name, variable)| (Some(name), variable));
        text.extend_from_slice(format!("[{section}").as_bytes());
        if let Some(name) = subsection {
            let name = name.replace('\\', "\\\\").replace('"', "\\\"");
            text.extend_from_slice(format!(" \"{name}\"").as_bytes());
        }
        text.extend_from_slice(format!("]\n\t{variable}").as_bytes());
        if let Some(value) = &entry.value {
            text.extend_from_slice(b" = \"");
            for byte in value {
                match byte {
                    b'"' => text.extend_from_slice(b"\\\""),
                    b'\\' => text.extend_from_slice(b"\\\\"),
                    b'\n' => text.extend_from_slice(b"\\n"),
                    byte => text.push(*byte),
                }
            }
            text.push(b'"');
        }
        text.push(b'\n');
    }
    text
}

#[derive(Debug)]
enum Pending {
    Entry(ConfigEntry),
    File(PathBuf, bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Include {
    Always,
    Conditional,
}

fn is_include(key: &str) -> Option<Include> {
    if key == "include.path" {
        return Some(Include::Always);
    }
    (key.starts_with("includeif.") && key.rsplit_once('.').is_some_and(|(_, variable)| variable == "path"))
        .then_some(Include::Conditional)
}

/// Path of an included file. A missing file is refused, because it cannot be checked and may
/// appear later.
fn target(roots: &Roots, origin: &Path, value: &[u8]) -> Result<PathBuf, ToolError> {
    let value = String::from_utf8_lossy(value);
    let path = origin.parent().unwrap_or(origin).join(&*value);
    let real = fs::canonicalize(path).ok().filter(|real| roots.contain(real) && !value.starts_with('~'));
    real.ok_or_else(|| {
        tracing::warn!("a repository's settings include a file outside of the roots");
        ToolError::new(
            "the repository's settings include a file outside of the directories that are open here",
        )
        .hint("Ask the operator to remove `include.path` from its config, or to open that directory.")
    })
}

fn contents(path: &Path) -> Result<Vec<u8>, ToolError> {
    if path.symlink_metadata().is_err() {
        return Ok(Vec::new());
    }
    if !path.is_file() {
        return Err(leads_outside());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| unreadable(&error.to_string()))?;
    file.take(FILE_SIZE + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error.to_string()))?;
    if bytes.len() as u64 > FILE_SIZE {
        return Err(ToolError::new("the repository's settings are too large to be checked")
            .hint("Ask a person to look at its config file."));
    }
    Ok(bytes)
}

/// Parses the text of a config file with git. Git runs outside of any repository, so it reads
/// nothing else.
async fn parse(
    git: &Git,
    deadline: Instant,
    text: Vec<u8>,
) -> Result<Vec<(String, Option<Vec<u8>>)>, ToolError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let command = Invocation::new(git, Mode::Read, git.roots().first(), deadline)
        .variable("GIT_DIR", "/dev/null")
        .args(["config", "--file", "-", "--no-includes", "-z", "--list"])
        .output_limit(usize::try_from(4 * FILE_SIZE).unwrap_or(usize::MAX));
    let output = command.input(text).run().await?;
    if !output.is_success() || output.truncated() {
        return Err(unreadable(&output.stderr.text()));
    }
    let mut settings = Vec::new();
    for field in output.raw_fields() {
        let (key, value) = match field.iter().position(|byte| *byte == b'\n') {
            Some(at) => (&field[..at], Some(field[at + 1..].to_vec())),
            None => (&field[..], None),
        };
        // A key that is not UTF-8 is not on the allowlist, so it can be dropped.
        if let Ok(key) = std::str::from_utf8(key) {
            settings.push((key.to_owned(), value));
        }
    }
    Ok(settings)
}

fn unreadable(detail: &str) -> ToolError {
    ToolError::new("the repository's settings cannot be read")
        .hint("Ask a person to look at its config file and at what that includes.")
        .detail(detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_names_are_quoted() {
        let entry = |key: &str, value: Option<&str>| ConfigEntry {
            key: key.into(),
            value: value.map(|value| value.as_bytes().to_vec()),
            conditional: false,
        };
        let entries = [
            entry("remote.a\"b.c\\.url", Some("x\n[core]\n\tpager = \"evil\" # \\")),
            entry("core.filemode", None),
        ];
        let text = String::from_utf8(write(entries.iter())).unwrap();
        assert_eq!(
            text,
            "[remote \"a\\\"b.c\\\\\"]\n\turl = \"x\\n[core]\\n\tpager = \\\"evil\\\" # \\\\\"\n[core]\n\tfilemode\n"
        );
    }
}
