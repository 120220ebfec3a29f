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
    fn secrets_are_known_by_name_or_by_sight() {
        for (name, value) in [
            ("GITHUB_TOKEN", "abcd1234"),
            ("Authorization", "Bearer abcdefgh"),
            ("X", "ghp_0123456789abcdefghij"),
            ("X", "a1b2c3d4e5f6a7b8c9d0e1f2"),
            ("DATABASE_URL", "postgres://me:hunter22@db/x"),
        ] {
            assert!(secret(name, value), "{name}={value}");
        }
    }

    #[test]
    fn usual_values_are_none() {
        for (name, value) in [
            ("NODE_ENV", "production"),
            ("TOKEN", "{env:TOKEN}"),
            ("TOKEN", ""),
            ("TOKEN_FILE", "/run/secrets/token"),
            ("X", "@modelcontextprotocol/server-github"),
            ("X", "mcp-server-time==2025.9.25"),
            ("TOKEN_URL", "https://auth.example.com/token"),
            ("X", "some-long-package-name-with-many-parts"),
        ] {
            assert!(!secret(name, value), "{name}={value}");
        }
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
