//! Problem: something that is wrong with a setting, where it stands, and what to do about it.

use serde::Serialize;

/// Something wrong with a setting. Problems are collected: nobody has to mend a file one problem at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub code: Code,
    pub severity: Severity,
    /// The file, or what stands in its place: a variable of the environment or a flag.
    pub file: String,
    /// Counted from one; 0 where there is no line, as in a variable.
    pub line: u32,
    /// Counted in characters, from one; 0 where there is no line.
    pub column: u32,
    /// How many characters are meant, from `column` on.
    pub length: u32,
    /// The key, such as `mcp.servers.github.url`; empty where no key is concerned.
    pub key: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// Whether a problem keeps the settings from being used.
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
    /// A name stands twice in one object.
    DuplicateKey,
    UnknownKey,
    /// The value is of another kind, such as a number where a text belongs.
    WrongKind,
    /// The value is none of those that may stand here.
    UnknownValue,
    /// The number, time or text lies outside its bounds.
    OutOfRange,
    /// The value is malformed: not an address, not a name, not a pattern.
    BadValue,
    /// Something that is needed is not there.
    Missing,
    /// Keys that exclude each other, or a key that belongs to another kind of server.
    Conflict,
    /// A variable of the environment is not set.
    UnsetVariable,
    /// A secret that is referred to cannot be had.
    UnavailableSecret,
    /// A secret is empty, well known or too short.
    WeakSecret,
    /// A name refers to a server, role or view that is not there.
    UnknownReference,
    /// A secret stands in the file itself.
    InlineSecret,
    /// Others can read a file that holds secrets, or change one that names commands.
    OpenFile,
    /// A variable that begins like ours and is not.
    UnknownVariable,
    /// A project's file that was found sets what only the user's own file may.
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

    /// As it is written, such as `unknown-key`.
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

    /// What such a problem is, for the reference page.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Unreadable => "the file cannot be read",
            Self::Syntax => "the text is not JSON with comments",
            Self::DuplicateKey => "a name stands twice in one object",
            Self::UnknownKey => "there is no such key",
            Self::WrongKind => "the value is of another kind than the key takes",
            Self::UnknownValue => "the value is none of those that may stand here",
            Self::OutOfRange => "the value lies outside its bounds",
            Self::BadValue => "the value is malformed: not an address, not a name, not a pattern",
            Self::Missing => "something that is needed is not there",
            Self::Conflict => "keys exclude each other, or belong to another kind of server",
            Self::UnsetVariable => "a variable of the environment is referred to and not set",
            Self::UnavailableSecret => "a secret is referred to and cannot be had",
            Self::WeakSecret => "a secret is empty, well known or too short",
            Self::UnknownReference => "a server, view or role is named that is not there",
            Self::InlineSecret => "a secret stands in the file itself",
            Self::OpenFile => "others can read a file that holds a secret, or change one that names commands",
            Self::UnknownVariable => "a variable begins with `TRUNKLINE_` and sets nothing",
            Self::ProjectMayNot => "a project's file that was found sets what only your own file may set",
        }
    }
}

impl Problem {
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
