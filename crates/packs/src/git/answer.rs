//! Answer types shared by several tools.

use schemars::JsonSchema;
use serde::Serialize;

use super::failure::clean;

/// Maximum size of one text in an answer, such as a patch, in bytes.
pub(super) const TEXT_LIMIT: usize = 96 * 1024;

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Commit {
    /// Full hash.
    pub(super) hash: String,
    pub(super) parents: Vec<String>,
    pub(super) author: Person,
    pub(super) committer: Person,
    /// First line of the message.
    pub(super) subject: String,
    /// The rest of the message.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) body: String,
    /// Branches and tags at this commit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) refs: Vec<String>,
}

/// A person and a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Person {
    pub(super) name: String,
    pub(super) email: String,
    /// ISO 8601, in that person's time zone.
    pub(super) date: String,
}

impl Commit {
    /// One line of text for people.
    pub(super) fn line(&self) -> String {
        let short = &self.hash[..self.hash.len().min(10)];
        let refs = if self.refs.is_empty() { String::new() } else { format!(" ({})", self.refs.join(", ")) };
        clean(&format!("{short} {} {}{refs} {}", day(&self.author.date), self.author.name, self.subject))
    }
}

fn day(date: &str) -> &str {
    date.get(..10).unwrap_or(date)
}
