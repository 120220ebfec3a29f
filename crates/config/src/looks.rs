//! Whether something looks like a secret, by its name or by itself. Meant for warnings and masks: it may err towards caution.

use crate::{expand::has_reference, secret::MASK};
use url::Url;

/// Words in the names of secrets.
const NAMES: &[&str] = &[
    "apikey",
    "api_key",
    "api-key",
    "accesskey",
    "access_key",
    "access-key",
    "token",
    "secret",
    "passwd",
    "password",
    "passphrase",
    "credential",
    "private_key",
    "privatekey",
    "authorization",
    "cookie",
    "webhook",
    "_pat",
    "_pwd",
    "bearer",
    "x-key",
];

/// How the secrets of well-known services begin.
const BEGINNINGS: &[&str] = &[
    "sk-",
    "sk_",
    "pk_live",
    "rk_live",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "eyJ",
    "npm_",
    "pypi-",
    "hf_",
    "dop_v1_",
    "shpat_",
    "SG.",
    "lin_api_",
    "ntn_",
    "secret_",
    "tvly-",
    "fc-",
    "figd_",
];

/// Secrets that everybody knows.
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

/// Shortest secret that is taken.
pub(crate) const LEAST_SECRET: usize = 8;

/// Shortest text of mixed characters that is taken for a key.
const KEY_LENGTH: usize = 20;

/// Whether a value of this name is a secret that is written out.
pub(crate) fn secret(name: &str, value: &str) -> bool {
    let bare = credential(value);
    if bare.is_empty() || has_reference(value) {
        return false;
    }
    let harmless = ["true", "false", "null", "none"].contains(&bare)
        || bare.len() < 4
        || bare.starts_with(['/', '.', '~', '<']);
    (secret_name(name) && !harmless && !bare.starts_with("http"))
        || begins_known(bare)
        || is_key(bare)
        || has_password(bare)
}

/// The credential in the value of a header, without the scheme before it.
pub(crate) fn credential(value: &str) -> &str {
    let value = value.trim();
    let schemes = ["Bearer", "Basic", "token"];
    schemes.iter().find_map(|scheme| value.strip_prefix(scheme)).unwrap_or(value).trim()
}

/// Whether a name is one of a secret.
pub(crate) fn secret_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    NAMES.iter().any(|word| lower.contains(word))
        || lower.ends_with("_key")
        || lower.ends_with("-key")
        || lower == "key"
}

/// Whether a secret is empty, well known or too short to be one.
pub(crate) fn weak(value: &str) -> bool {
    let value = value.trim();
    value.chars().count() < LEAST_SECRET || KNOWN.contains(&value.to_lowercase().as_str())
}

/// The name of the first argument whose value is written out and a secret: `--token=x`, or `--token x`.
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

/// An address without the parts that look like secrets; `None` when there are none.
pub(crate) fn masked_address(text: &str) -> Option<String> {
    let mut masked = text.to_owned();
    if let Ok(url) = Url::parse(text)
        && let Some(password) = url.password()
    {
        masked = masked.replacen(&format!(":{password}@"), &format!(":{MASK}@"), 1);
    }
    let query = text.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let query = query.split('#').next().unwrap_or_default();
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        if secret(name, value) {
            masked = masked.replacen(&format!("{name}={value}"), &format!("{name}={MASK}"), 1);
        }
    }
    (masked != text).then_some(masked)
}

fn begins_known(text: &str) -> bool {
    text.len() >= KEY_LENGTH && BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

/// A long run of mixed characters without the marks of a path, an address or a sentence.
fn is_key(text: &str) -> bool {
    let has = |test: fn(&char) -> bool| text.chars().any(|c| test(&c));
    text.len() >= KEY_LENGTH
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '='))
        && text.chars().filter(char::is_ascii_digit).count() >= 4
        && has(char::is_ascii_lowercase) | has(char::is_ascii_uppercase)
        && text.split(['-', '.', '_']).any(|part| {
            part.len() >= KEY_LENGTH || part.len() >= 12 && part.chars().any(|c| c.is_ascii_digit())
        })
}

/// An address such as `postgres://user:password@host`.
fn has_password(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| url.password().is_some_and(|password| !password.is_empty()))
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
