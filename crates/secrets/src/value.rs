//! Decides by name or by value if a single setting or variable is a secret.
//!
//! Used for warnings and for hiding a whole value, so it errs towards caution; [`crate::Mask`] is
//! for free text.

use crate::{address, names::is_secret_name, token::is_token};

/// Minimum length of a run of mixed characters that is treated as a key.
const KEY_LENGTH: usize = 20;

/// Minimum length of the value of a secret name.
const SHORTEST: usize = 4;

/// True if this value of a setting with this name is a secret.
pub fn is_secret(name: &str, value: &str) -> bool {
    let bare = credential(value);
    let harmless = ["true", "false", "null", "none"].contains(&bare)
        || bare.len() < SHORTEST
        || bare.starts_with(['/', '.', '~', '<'])
        || bare.starts_with("http");
    is_secret_name(name) && !harmless || is_token(bare) || is_key(bare) || address::has_password(bare)
}

/// The credential in a header value, without the scheme.
pub fn credential(value: &str) -> &str {
    let value = value.trim();
    let schemes = ["Bearer", "Basic", "token"];
    schemes.iter().find_map(|scheme| value.strip_prefix(scheme)).unwrap_or(value).trim()
}

/// True for a long run of mixed characters that is not a path, a URL or a sentence.
fn is_key(text: &str) -> bool {
    text.len() >= KEY_LENGTH
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.+=".contains(&byte))
        && text.bytes().filter(u8::is_ascii_digit).count() >= 4
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
        && text.split(['-', '.', '_']).any(|part| {
            part.len() >= KEY_LENGTH || part.len() >= 12 && part.bytes().any(|byte| byte.is_ascii_digit())
        })
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
            assert!(is_secret(name, value), "{name}={value}");
        }
    }

    #[test]
    fn usual_values_are_none() {
        for (name, value) in [
            ("NODE_ENV", "production"),
            ("TOKEN", ""),
            ("TOKEN_FILE", "/run/secrets/token"),
            ("X", "@modelcontextprotocol/server-github"),
            ("X", "mcp-server-time==2025.9.25"),
            ("TOKEN_URL", "https://auth.example.com/token"),
            ("X", "some-long-package-name-with-many-parts"),
        ] {
            assert!(!is_secret(name, value), "{name}={value}");
        }
    }
}
