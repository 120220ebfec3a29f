//! Protected names, at any depth below a root.
//!
//! A rule is one or more names joined by `/`, with the wildcards `*` and `?`. It applies at any
//! depth and to everything below a match. `!rule` is an exception. Names are compared like on the
//! most lenient filesystem: ignoring case, trailing dots and spaces, an NTFS stream suffix, and
//! invisible characters.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use thiserror::Error;

use super::guarded::Guarded;
use super::name::{Name, RelPath};

/// Never read and never changed: credentials and keys.
const SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker/config.json",
    ".config/gcloud",
    ".config/gh",
    ".env",
    ".env.*",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    "!.env.dist",
    ".envrc",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".vault-token",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "*.kdbx",
];

/// Readable but never changed: files that other programs execute or apply without confirmation.
const FIXED: &[&str] = &[
    ".git",
    "git~1",
    ".hg",
    ".svn",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    // The server's own configuration, in all its locations, and the user's approvals.
    "trunkline.json",
    "trunkline/approved.json",
    // The tool definitions that a person has reviewed.
    "trunkline.lock",
];

/// The rule named in the error for a guarded path.
const GUARDED: &str = "configuration of this server";
/// The rule named in the error for a private path.
const PRIVATE: &str = "secrets and records of this server";

/// The rules for reading and for changing. A path that may not be read may not be changed either.
#[derive(Clone)]
pub struct Protected {
    secrets: Arc<[Rule]>,
    fixed: Arc<[Rule]>,
    guarded: Guarded,
    private: Guarded,
}

/// An invalid rule.
#[derive(Debug, Error)]
#[error("`{rule}` is not a usable protection rule: {reason}")]
pub struct BadPattern {
    pub rule: String,
    pub reason: String,
}

#[derive(Clone)]
struct Rule {
    text: String,
    sense: Sense,
    names: Vec<GlobMatcher>,
}

/// Determines whether everything below a path appears or disappears with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Renames {
    Yes,
    No,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sense {
    Protect,
    Except,
}

impl Protected {
    /// Custom rules instead of the built-in ones.
    pub fn new<S: AsRef<str>>(secrets: &[S], fixed: &[S]) -> Result<Self, BadPattern> {
        let (guarded, private) = (Guarded::default(), Guarded::default());
        Ok(Self { secrets: rules(secrets)?, fixed: rules(fixed)?, guarded, private })
    }

    /// No rules.
    pub fn nothing() -> Self {
        let (guarded, private) = (Guarded::default(), Guarded::default());
        Self { secrets: Arc::from([]), fixed: Arc::from([]), guarded, private }
    }

    /// Adds files and directories that are readable but never changed. They need not exist yet.
    #[must_use]
    pub fn and_files(self, paths: &[PathBuf]) -> Self {
        Self { guarded: self.guarded.and(&Guarded::new(paths)), ..self }
    }

    /// Adds files and directories that are neither read nor changed. They need not exist yet.
    #[must_use]
    pub fn and_private(self, paths: &[PathBuf]) -> Self {
        let private = Guarded::new(paths);
        Self { guarded: self.guarded.and(&private), private: self.private.and(&private), ..self }
    }

    /// Custom rules in addition to the built-in ones.
    pub fn with<S: AsRef<str>>(secrets: &[S], fixed: &[S]) -> Result<Self, BadPattern> {
        let all = |own: &[&str], more: &[S]| -> Vec<String> {
            own.iter()
                .map(|rule| (*rule).to_owned())
                .chain(more.iter().map(|rule| rule.as_ref().to_owned()))
                .collect()
        };
        Self::new(&all(SECRETS, secrets), &all(FIXED, fixed))
    }

    /// The rule that forbids reading a path, if any.
    pub fn from_reading(&self, path: &RelPath) -> Option<&str> {
        matching(&self.secrets, &folded(path), Reach::Whole)
    }

    /// The rule that forbids writing a path, if any.
    pub fn from_changing(&self, path: &RelPath) -> Option<&str> {
        let path = folded(path);
        matching(&self.secrets, &path, Reach::Whole).or_else(|| matching(&self.fixed, &path, Reach::Whole))
    }

    /// The rule that forbids creating, removing or renaming a path, if any. This includes a
    /// directory that matches the beginning of a rule of several names: under another name its
    /// contents would escape the rule.
    pub fn from_renaming(&self, path: &RelPath) -> Option<&str> {
        let path = folded(path);
        matching(&self.secrets, &path, Reach::Begun).or_else(|| matching(&self.fixed, &path, Reach::Begun))
    }

    /// The rule that forbids changing an absolute path without links, if any. A directory that
    /// contains a guarded path may be changed, but not renamed: under another name its contents
    /// would escape the rule.
    pub(super) fn guarding(&self, path: &RelPath, renames: Renames) -> Option<&'static str> {
        let is_guarded =
            self.guarded.covers(path) || (renames == Renames::Yes && self.guarded.is_within(path));
        is_guarded.then_some(GUARDED)
    }

    /// The rule that forbids reading an absolute path without links, if any.
    pub(crate) fn hiding(&self, path: &RelPath) -> Option<&'static str> {
        self.private.covers(path).then_some(PRIVATE)
    }

    pub fn secret_rules(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(|rule| rule.text.as_str())
    }

    pub fn fixed_rules(&self) -> impl Iterator<Item = &str> {
        self.fixed.iter().map(|rule| rule.text.as_str())
    }
}

impl Default for Protected {
    fn default() -> Self {
        Self::with::<&str>(&[], &[]).expect("the built-in rules are patterns")
    }
}

impl fmt::Debug for Protected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protected").finish_non_exhaustive()
    }
}

/// Determines whether the whole rule must match, or a prefix of it at the end of the path is
/// enough.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Whole,
    Begun,
}

/// The last matching rule decides at each depth; a protected parent protects everything below it.
fn matching<'a>(rules: &'a [Rule], path: &[String], reach: Reach) -> Option<&'a str> {
    (1..=path.len()).find_map(|end| {
        let last = end == path.len();
        let fitting = rules.iter().rfind(|rule| {
            rule.ends_at(&path[..end]) || (last && reach == Reach::Begun && rule.begins_at(&path[..end]))
        })?;
        (fitting.sense == Sense::Protect).then_some(fitting.text.as_str())
    })
}

impl Rule {
    fn ends_at(&self, path: &[String]) -> bool {
        path.len() >= self.names.len() && fits(&self.names, &path[path.len() - self.names.len()..])
    }

    fn begins_at(&self, path: &[String]) -> bool {
        self.sense == Sense::Protect
            && (1..self.names.len())
                .any(|begun| path.len() >= begun && fits(&self.names[..begun], &path[path.len() - begun..]))
    }
}

fn fits(names: &[GlobMatcher], path: &[String]) -> bool {
    names.iter().zip(path).all(|(name, part)| name.is_match(part))
}

fn rules<S: AsRef<str>>(texts: &[S]) -> Result<Arc<[Rule]>, BadPattern> {
    texts.iter().map(|text| rule(text.as_ref())).collect()
}

fn rule(text: &str) -> Result<Rule, BadPattern> {
    let bad = |reason: String| BadPattern { rule: text.to_owned(), reason };
    let (sense, pattern) = match text.strip_prefix('!') {
        Some(rest) => (Sense::Except, rest),
        None => (Sense::Protect, text),
    };
    let names = pattern.split('/').map(|name| {
        if matches!(name, "" | "." | ".." | "**") {
            return Err(bad("each part between slashes has to be a name".to_owned()));
        }
        let glob = GlobBuilder::new(&name.to_lowercase()).literal_separator(true).build();
        glob.map(|glob| glob.compile_matcher()).map_err(|error| bad(error.to_string()))
    });
    Ok(Rule { text: text.to_owned(), sense, names: names.collect::<Result<_, _>>()? })
}

pub(super) fn folded(path: &RelPath) -> Vec<String> {
    path.names().iter().map(fold).collect()
}

pub(super) fn fold(name: &Name) -> String {
    let text = String::from_utf8_lossy(name.as_bytes());
    let seen: String = text.chars().filter(|character| !is_ignorable(*character)).collect();
    let stem = seen.split_once(':').map_or(seen.as_str(), |(stem, _)| stem);
    stem.trim_end_matches(['.', ' ']).to_lowercase()
}

/// True for characters that some filesystems ignore when they compare names.
fn is_ignorable(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}')
}
