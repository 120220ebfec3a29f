//! Secret: a text with parts that must not be shown, and the interface of keychains.

use serde::{Serialize, Serializer};
use std::fmt;

/// Shown instead of a secret.
pub const MASK: &str = "***";

/// A text that may hold secrets. `Debug`, `Display` and serialization show only its safe form:
/// references as written, and [`MASK`] for literal secrets. Equality compares the values.
#[derive(Clone, Default)]
pub struct Secret {
    value: String,
    shown: String,
}

/// A keychain, which resolves `{keychain:NAME}`.
pub trait Secrets: Send + Sync {
    fn keychain(&self, name: &str) -> Result<String, NoSecret>;
}

/// The reason why a secret is unavailable, and what to do.
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
    /// A text that is printed as `shown`.
    pub fn new(value: impl Into<String>, shown: impl Into<String>) -> Self {
        Self { value: value.into(), shown: shown.into() }
    }

    /// A text without secrets.
    pub fn plain(value: impl Into<String>) -> Self {
        let value = value.into();
        Self { shown: value.clone(), value }
    }

    /// A text that is printed as [`MASK`].
    pub fn hidden(value: impl Into<String>) -> Self {
        Self::new(value, MASK)
    }

    /// The text itself; it must not be printed.
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
    fn keychain(&self, name: &str) -> Result<String, NoSecret> {
        Err(NoSecret {
            reason: format!("there is no keychain here to look for `{name}` in"),
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
