//! The principal: how a caller was identified, by whom, and under which id.
//!
//! Ids of different kinds are chosen by different parties: key ids by the owner of the key file,
//! subjects by the issuer of tokens. Only all three parts together identify a caller.

use std::fmt;

/// The text of [`Principal::Local`] in role rules.
const LOCAL: &str = "local";
const KEY: &str = "key:";
const TOKEN: &str = "jwt:";
const CERTIFICATE: &str = "cert:";

/// An identified caller. Its text is unique: `key:<id>`, `jwt:<issuer>#<subject>`,
/// `cert:<subject>`, `local` or `anonymous`. An issuer contains no `#` (RFC 8414 §2), so the first
/// one ends it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Principal {
    /// The user who runs the process.
    Local,
    /// The caller when no credentials were given and none are required.
    Anonymous,
    Key {
        id: String,
    },
    Token {
        issuer: String,
        subject: String,
    },
    /// A client certificate of one of our authorities; the subject is its distinguished name.
    Certificate {
        subject: String,
    },
}

impl Principal {
    pub fn key(id: impl Into<String>) -> Self {
        Self::Key { id: id.into() }
    }

    pub fn token(issuer: impl Into<String>, subject: impl Into<String>) -> Self {
        Self::Token { issuer: issuer.into(), subject: subject.into() }
    }

    pub fn certificate(subject: impl Into<String>) -> Self {
        Self::Certificate { subject: subject.into() }
    }

    /// The principal that a role rule names. A plain name is the id of an API key.
    pub fn from_rule(text: &str) -> Self {
        if text == LOCAL {
            return Self::Local;
        }
        if let Some(id) = text.strip_prefix(KEY) {
            return Self::key(id);
        }
        if let Some(subject) = text.strip_prefix(CERTIFICATE) {
            return Self::certificate(subject);
        }
        match text.strip_prefix(TOKEN).and_then(|rest| rest.split_once('#')) {
            Some((issuer, subject)) => Self::token(issuer, subject),
            None => Self::key(text),
        }
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str(LOCAL),
            Self::Anonymous => f.write_str("anonymous"),
            Self::Key { id } => write!(f, "{KEY}{id}"),
            Self::Token { issuer, subject } => write!(f, "{TOKEN}{issuer}#{subject}"),
            Self::Certificate { subject } => write!(f, "{CERTIFICATE}{subject}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a15_rules_name_one_kind_of_principal_each() {
        let text = |rule: &str| Principal::from_rule(rule).to_string();
        assert_eq!(Principal::from_rule("local"), Principal::Local);
        assert_eq!(text("key:local"), "key:local");
        assert_eq!(text("ada"), "key:ada");
        assert_eq!(Principal::from_rule("cert:CN=ada"), Principal::certificate("CN=ada"));
        assert_eq!(text("key:key:ada"), "key:key:ada");
        assert_eq!(
            Principal::from_rule("jwt:https://id.example#a#b"),
            Principal::token("https://id.example", "a#b")
        );
        let all = [
            Principal::Local,
            Principal::Anonymous,
            Principal::key("local"),
            Principal::key("anonymous"),
            Principal::token("https://id.example", "local"),
            Principal::certificate("local"),
        ];
        let texts: std::collections::BTreeSet<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), all.len());
    }
}
