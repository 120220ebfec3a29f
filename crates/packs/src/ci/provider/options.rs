//! Options of a hosted service.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A hosted service whose runs are shown.
#[derive(Debug, Clone)]
pub struct ProviderOptions {
    /// The service.
    pub kind: ProviderKind,
    /// Base URL of its API, such as `https://api.github.com` or `https://gitlab.com/api/v4`.
    pub api: String,
    /// The token sent with requests.
    pub token: Token,
    /// Allowed projects, such as `owner/name`; the first is the default. Empty allows all that the
    /// token can access.
    pub projects: Vec<String>,
    /// Determines whether runs can be restarted.
    pub rerun: Rerun,
}

/// A hosted service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    GitHub,
    GitLab,
}

/// Determines whether runs can be restarted. The caller also needs the scope `ci:rerun`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rerun {
    /// Runs cannot be restarted.
    Denied,
    /// Runs can be restarted.
    Offered,
}

/// A secret, which `Debug` does not print.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl ProviderOptions {
    /// The service at github.com.
    pub fn github(token: Token) -> Self {
        Self::new(ProviderKind::GitHub, "https://api.github.com", token)
    }

    /// The service at gitlab.com.
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
