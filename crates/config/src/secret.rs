//! Secret: a text of which parts must not be shown, and where such parts are kept.

use serde::{Serialize, Serializer};
use std::fmt;

/// What stands in the place of a secret.
pub const MASK: &str = "***";

/// A text that may hold secrets. Everything that prints it prints the form that may be shown: references as they were
/// written, and [`MASK`] for secrets that were written out. Two are equal when their values are.
#[derive(Clone, Default)]
pub struct Secret {
    value: String,
    shown: String,
}

/// Where secrets are kept that are referred to as `{keychain:service/account}`.
pub trait Secrets: Send + Sync {
    fn keychain(&self, service: &str, account: &str) -> Result<String, NoSecret>;
}

/// Why a secret cannot be had, and what can be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NoSecret {
    pub reason: String,
    pub suggestion: String,
}

/// There is no keychain.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoKeychain;

impl Secret {
    /// A text of which `shown` may be printed.
    pub fn new(value: impl Into<String>, shown: impl Into<String>) -> Self {
        Self { value: value.into(), shown: shown.into() }
    }

    /// A text that is no secret.
    pub fn plain(value: impl Into<String>) -> Self {
        let value = value.into();
        Self { shown: value.clone(), value }
    }

    /// A text of which nothing may be printed.
    pub fn hidden(value: impl Into<String>) -> Self {
        Self::new(value, MASK)
    }

    /// The text itself; not to be printed.
    pub fn expose(&self) -> &str {
        &self.value
    }

    pub fn shown(&self) -> &str {
        &self.shown
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.shown, f)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.shown)
    }
}

impl Secrets for NoKeychain {
    fn keychain(&self, service: &str, account: &str) -> Result<String, NoSecret> {
        Err(NoSecret {
            reason: format!("there is no keychain here to look for `{service}/{account}` in"),
            suggestion:
                "put the secret into a file only you can read and write `{file:path}`, or into a variable and write `{env:NAME}`"
                    .to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_prints_the_value() {
        let secret = Secret::new("Bearer s3cret", "Bearer {env:TOKEN}");
        let printed = format!("{secret} {secret:?} {}", serde_json::to_string(&secret).unwrap());
        assert!(!printed.contains("s3cret"), "{printed}");
        assert_eq!(secret.to_string(), "Bearer {env:TOKEN}");
        assert_eq!(format!("{:?}", Secret::hidden("x")), "\"***\"");
    }

    #[test]
    fn a_changed_value_differs_even_if_it_is_shown_alike() {
        assert_ne!(Secret::new("1", "{env:A}"), Secret::new("2", "{env:A}"));
        assert_eq!(Secret::new("1", "{env:A}"), Secret::plain("1"));
    }
}
