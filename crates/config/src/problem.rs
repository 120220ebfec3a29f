//! Problem: an error or warning about a setting, with its position.

use serde::Serialize;

/// An error or warning about a setting. All problems of a file are collected and reported
/// together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub code: Code,
    pub severity: Severity,
    /// The file, or the name of the environment variable or flag.
    pub file: String,
    /// One-based; 0 if there is no line, as for a variable.
    pub line: u32,
    /// In characters, one-based; 0 if there is no line.
    pub column: u32,
    /// Length of the marked text, in characters.
    pub length: u32,
    /// The key, such as `mcp.servers.github.url`; empty if the problem is not about a key.
    pub key: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// Errors prevent the settings from being used; warnings do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
}

/// The kinds of problem. Their names are stable: programs may rely on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// A file cannot be read.
    Unreadable,
    /// The text is not JSON.
    Syntax,
    /// An object has a duplicate key.
    DuplicateKey,
    UnknownKey,
    /// The value has the wrong type, such as a number instead of a string.
    WrongKind,
    /// The value is not one of those allowed here.
    UnknownValue,
    /// The number, duration or text is out of range.
    OutOfRange,
    /// The value is malformed: not an address, not a name, not a pattern.
    BadValue,
    /// A required key is missing.
    Missing,
    /// Mutually exclusive keys, or a key of another kind of server.
    Conflict,
    /// A referenced environment variable is not set.
    UnsetVariable,
    /// A referenced secret cannot be read.
    UnavailableSecret,
    /// A secret is empty, well known or too short.
    WeakSecret,
    /// A name refers to a server, role or view that does not exist.
    UnknownReference,
    /// The file contains a literal secret.
    InlineSecret,
    /// Others can read a file that holds secrets, or change one that names commands.
    OpenFile,
    /// A variable with our prefix that is not a setting.
    UnknownVariable,
    /// A found project file sets a key that only the user's own file may set.
    ProjectMayNot,
}

impl Code {
    pub const ALL: [Self; 18] = [
        Self::Unreadable,
        Self::Syntax,
        Self::DuplicateKey,
        Self::UnknownKey,
        Self::WrongKind,
        Self::UnknownValue,
        Self::OutOfRange,
        Self::BadValue,
        Self::Missing,
        Self::Conflict,
        Self::UnsetVariable,
        Self::UnavailableSecret,
        Self::WeakSecret,
        Self::UnknownReference,
        Self::InlineSecret,
        Self::OpenFile,
        Self::UnknownVariable,
        Self::ProjectMayNot,
    ];

    pub fn severity(self) -> Severity {
        match self {
            Self::InlineSecret | Self::OpenFile | Self::UnknownVariable => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// The stable name, such as `unknown-key`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Syntax => "syntax",
            Self::DuplicateKey => "duplicate-key",
            Self::UnknownKey => "unknown-key",
            Self::WrongKind => "wrong-kind",
            Self::UnknownValue => "unknown-value",
            Self::OutOfRange => "out-of-range",
            Self::BadValue => "bad-value",
            Self::Missing => "missing",
            Self::Conflict => "conflict",
            Self::UnsetVariable => "unset-variable",
            Self::UnavailableSecret => "unavailable-secret",
            Self::WeakSecret => "weak-secret",
            Self::UnknownReference => "unknown-reference",
            Self::InlineSecret => "inline-secret",
            Self::OpenFile => "open-file",
            Self::UnknownVariable => "unknown-variable",
            Self::ProjectMayNot => "project-may-not",
        }
    }

    /// Description for the reference page.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Unreadable => "the file cannot be read",
            Self::Syntax => "the text is not JSON with comments",
            Self::DuplicateKey => "an object has a duplicate key",
            Self::UnknownKey => "there is no such key",
            Self::WrongKind => "the value has the wrong type",
            Self::UnknownValue => "the value is not one of those allowed for the key",
            Self::OutOfRange => "the value is out of range",
            Self::BadValue => "the value is malformed: not an address, not a name, not a pattern",
            Self::Missing => "a required key is missing",
            Self::Conflict => "keys are mutually exclusive, or belong to another kind of server",
            Self::UnsetVariable => "a referenced environment variable is not set",
            Self::UnavailableSecret => "a referenced secret cannot be read",
            Self::WeakSecret => "a secret is empty, well known or too short",
            Self::UnknownReference => "a name refers to a server, view or role that does not exist",
            Self::InlineSecret => "the file contains a literal secret",
            Self::OpenFile => "others can read a file that holds a secret, or change one that names commands",
            Self::UnknownVariable => "a variable begins with `TRUNKLINE_` but is not a setting",
            Self::ProjectMayNot => "a found project file sets a key that only your own file may set",
        }
    }
}

impl Problem {
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
