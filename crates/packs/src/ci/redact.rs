//! Redacts secrets in logs.

use trunkline_secrets::{Caution, Mask};

/// `Readable`, because people and models read these texts.
pub(super) const SECRETS: Mask = Mask::new("[redacted]", Caution::Readable);

/// `text` with secrets redacted.
pub(super) fn redact(text: &str) -> String {
    SECRETS.hide(text).into_owned()
}

/// `text` with secrets redacted, including the secret `known`.
pub(super) fn redact_known(text: &str, known: &str) -> String {
    SECRETS.knowing([known]).hide(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_known_by_their_shape() {
        let token = format!("ghp_{}", "a1B2c3".repeat(6));
        assert_eq!(redact(&format!("using {token}, ok")), "using [redacted], ok");
        assert_eq!(redact("key AKIAABCDEFGHIJKLMN01"), "key [redacted]");
        assert_eq!(redact("jwt eyJhbGciOi.eyJzdWIiOi.c2ln"), "jwt [redacted]");
        assert_eq!(redact("sk-learn and npm_config are words"), "sk-learn and npm_config are words");
    }

    #[test]
    fn values_of_secret_names_vanish() {
        assert_eq!(redact("DB_PASSWORD=hunter22 next"), "DB_PASSWORD=[redacted] next");
        assert_eq!(redact(r#"{"api_key": "abcdefgh"}"#), r#"{"api_key": "[redacted]"}"#);
        assert_eq!(redact("Authorization: Bearer abcdef123"), "Authorization: Bearer [redacted]");
        assert_eq!(redact("\u{201e}password=hunter22"), "\u{201e}password=[redacted]");
        assert_eq!(redact("tokens: 12345678"), "tokens: 12345678");
        assert_eq!(redact("unexpected token: Token::new(1)"), "unexpected token: Token::new(1)");
    }

    #[test]
    fn credentials_in_addresses_and_private_keys_vanish() {
        assert_eq!(redact("https://me:pw@host/x"), "https://me:[redacted]@host/x");
        let key = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb";
        assert_eq!(redact(key), "a\n[redacted]\nb");
        assert_eq!(redact("a:\nb"), "a:\nb");
    }

    #[test]
    fn the_known_token_vanishes_whatever_its_shape() {
        assert_eq!(redact_known("sent opaque-value-1 away", "opaque-value-1"), "sent [redacted] away");
    }
}
