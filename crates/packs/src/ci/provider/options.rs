//! What the operator configures about a hosted service.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A hosted service whose runs can be looked at.
#[derive(Debug, Clone)]
pub struct ProviderOptions {
    /// Which one.
    pub kind: ProviderKind,
    /// The address of its interface, such as `https://api.github.com` or `https://gitlab.com/api/v4`.
    pub api: String,
    /// The token that is sent along.
    pub token: Token,
    /// The projects that may be asked about, such as `owner/name`; the first is the default. Empty means all that the
    /// token may see.
    pub projects: Vec<String>,
    /// Whether runs can be started again.
    pub rerun: Rerun,
}

/// A hosted service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    GitHub,
    GitLab,
}

/// Whether runs can be started again. The caller also needs the scope `ci:rerun`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rerun {
    /// They cannot.
    Denied,
    /// They can.
    Offered,
}

/// A secret. It is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl ProviderOptions {
    /// GitHub's own service.
    pub fn github(token: Token) -> Self {
        Self::new(ProviderKind::GitHub, "https://api.github.com", token)
    }

    /// GitLab's own service.
    pub fn gitlab(token: Token) -> Self {
        Self::new(ProviderKind::GitLab, "https://gitlab.com/api/v4", token)
    }

    fn new(kind: ProviderKind, api: &str, token: Token) -> Self {
        Self { kind, api: api.to_owned(), token, projects: Vec::new(), rerun: Rerun::Denied }
    }
}

impl ProviderKind {
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::GitHub => "github",
            Self::GitLab => "gitlab",
        }
    }
}

impl Token {
    pub fn new(token: impl Into<String>) -> Self {
        Self(token.into())
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}
