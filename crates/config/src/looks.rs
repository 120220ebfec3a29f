//! Detects settings that look like secrets, using `trunkline-secrets`; references do not count.

use crate::{expand::has_reference, secret::MASK};
use trunkline_secrets::is_secret;

pub(crate) use trunkline_secrets::credential;

/// Well-known placeholder secrets.
const KNOWN: &[&str] = &[
    "changeme",
    "change-me",
    "change_me",
    "secret",
    "password",
    "default",
    "example",
    "test",
    "admin",
    "token",
    "12345678",
    "my-test-key",
    "your-secret",
    "client-secret",
    "todo",
    "xxx",
];

/// Minimum length of a secret.
pub(crate) const LEAST_SECRET: usize = 8;

/// True if a value of this name is a literal secret.
pub(crate) fn secret(name: &str, value: &str) -> bool {
    !has_reference(value) && is_secret(name, value)
}

/// True if a secret is empty, well known or too short.
pub(crate) fn weak(value: &str) -> bool {
    let value = value.trim();
    value.chars().count() < LEAST_SECRET || KNOWN.contains(&value.to_lowercase().as_str())
}

/// The position and name of an argument with a literal secret: `--token=x`, or `--token x`.
pub(crate) fn secret_argument(before: Option<&str>, word: &str) -> Option<(usize, String)> {
    if let Some((name, value)) = word.split_once('=')
        && secret(name.trim_start_matches('-'), value)
    {
        return Some((name.len() + 1, name.trim_start_matches('-').to_owned()));
    }
    let flag = before.filter(|flag| flag.starts_with('-') && !flag.contains('='));
    let name = flag.map(|flag| flag.trim_start_matches('-')).unwrap_or_default();
    (!word.starts_with('-') && secret(name, word)).then(|| (0, name.to_owned()))
}

/// A URL with likely secrets masked; `None` if it contains none.
pub(crate) fn masked_address(text: &str) -> Option<String> {
    trunkline_secrets::masked_address(text, MASK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_to_a_secret_is_none() {
        assert!(secret("TOKEN", "abcd1234"));
        assert!(!secret("TOKEN", "{env:TOKEN}"));
    }

    #[test]
    fn arguments_and_addresses_hold_secrets_too() {
        assert_eq!(secret_argument(None, "--api-key=abc12345"), Some((10, "api-key".to_owned())));
        assert_eq!(secret_argument(Some("--token"), "abc12345"), Some((0, "token".to_owned())));
        assert_eq!(secret_argument(Some("-y"), "@scope/server"), None);
        assert_eq!(
            masked_address("https://h/mcp?api_key=abc12345&x=1#f").unwrap(),
            "https://h/mcp?api_key=***&x=1#f"
        );
        assert_eq!(masked_address("https://h/mcp?x=1"), None);
    }

    #[test]
    fn weak_secrets_are_known() {
        for text in ["", "  ", "changeme", "ChangeMe", "short"] {
            assert!(weak(text), "{text}");
        }
        assert!(!weak("long-enough-and-odd"));
    }
}
