//! Names of secrets: variables, members, headers, flags and query parameters.

/// The likelihood that a name denotes a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameClass {
    /// `GITHUB_TOKEN`, `password`, `Authorization`.
    Secret,
    /// `X_KEY`, `DB_PASS`: a secret in settings, often something else in free text.
    Maybe,
    Plain,
}

/// Words that make a name secret at any position.
pub(crate) const SECRET: &[&str] = &[
    "access key",
    "access-key",
    "access_key",
    "accesskey",
    "api key",
    "api-key",
    "api_key",
    "apikey",
    "authorization",
    "bearer",
    "connection-string",
    "connection_string",
    "connectionstring",
    "cookie",
    "credential",
    "jwt",
    "passphrase",
    "passwd",
    "password",
    "private-key",
    "private_key",
    "privatekey",
    "secret",
    "secret key",
    "session-id",
    "session_id",
    "sessionid",
    "signature",
    "token",
];

/// Words that may denote a secret if they are the last word of a name.
pub(crate) const MAYBE: &[&str] = &["auth", "dsn", "key", "pass", "pat", "pwd", "sig", "webhook"];

/// Last words of names that describe a secret but do not contain it: `token_type`, `secretName`.
const ABOUT: &[&str] = &[
    "age",
    "algorithm",
    "budget",
    "count",
    "endpoint",
    "expiration",
    "expires",
    "expiry",
    "file",
    "format",
    "in",
    "len",
    "length",
    "lifetime",
    "limit",
    "method",
    "methods",
    "name",
    "path",
    "policy",
    "supported",
    "ttl",
    "type",
    "uri",
    "url",
    "usage",
];

/// Names of tokens that are not credentials, such as cursors. Compared without case, `_` and `-`.
const HARMLESS: &[&str] =
    &["cancellationtoken", "continuationtoken", "nexttoken", "pagetoken", "progresstoken", "synctoken"];

/// True if a setting, variable, header or flag of this name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    match name_class(name) {
        NameClass::Secret => true,
        // In settings these usually name the sign-in method, not the credential.
        NameClass::Maybe => {
            !ends_with_word(name.as_bytes(), "auth") && !ends_with_word(name.as_bytes(), "sig")
        }
        NameClass::Plain => false,
    }
}

/// Classifies a name.
pub fn name_class(name: &str) -> NameClass {
    let bytes = name.as_bytes();
    let lower = name.to_ascii_lowercase();
    let secret =
        SECRET.iter().any(|word| lower.match_indices(word).any(|(at, _)| ends_here(bytes, at + word.len())));
    if secret && !is_about(bytes) {
        NameClass::Secret
    } else if MAYBE.iter().any(|word| ends_with_word(bytes, word)) {
        NameClass::Maybe
    } else {
        NameClass::Plain
    }
}

/// True if the word ends at `end`: `token` ends in `tokenValue`, `tokens` and `TOKEN_2`, but not
/// in `tokenizer`.
pub(crate) fn ends_here(name: &[u8], end: usize) -> bool {
    let continues = |at: usize| {
        name.get(at).is_some_and(|next| {
            let last = name[end - 1];
            next.is_ascii_lowercase() && last.is_ascii_alphabetic()
                || next.is_ascii_uppercase() && last.is_ascii_uppercase()
        })
    };
    !continues(end) || (is_plural(name, end) && !continues(end + 1))
}

/// True if a plural `s` follows at `end`.
pub(crate) fn is_plural(name: &[u8], end: usize) -> bool {
    name.get(end).is_some_and(|next| next.eq_ignore_ascii_case(&b's'))
}

/// True if the name only describes a secret, or is known to be harmless.
pub(crate) fn is_about(name: &[u8]) -> bool {
    ABOUT.iter().any(|word| name.len() > word.len() && ends_with_word(name, word))
        || HARMLESS.iter().any(|word| ends_with_letters(name, word))
}

/// True if `name` without `_` and `-` ends with `word`.
fn ends_with_letters(name: &[u8], word: &str) -> bool {
    let mut letters = name.iter().rev().filter(|byte| !matches!(byte, b'_' | b'-'));
    word.bytes().rev().all(|wanted| letters.next().is_some_and(|byte| byte.eq_ignore_ascii_case(&wanted)))
}

/// True if `word` is the last word of `name`, separated by `_`, `-`, `.` or a capital letter.
pub(crate) fn ends_with_word(name: &[u8], word: &str) -> bool {
    let Some(start) = name.len().checked_sub(word.len()) else { return false };
    let (before, last) = name.split_at(start);
    last.eq_ignore_ascii_case(word.as_bytes())
        && before.last().is_none_or(|byte| {
            !byte.is_ascii_alphanumeric() || byte.is_ascii_lowercase() && last[0].is_ascii_uppercase()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known() {
        for name in [
            "GITHUB_TOKEN",
            "apiKey",
            "X-Api-Key",
            "AWS_SECRET_ACCESS_KEY",
            "clientSecret",
            "passwordHash",
            "Authorization",
            "TOKENS",
            "npassword",
            "token2",
        ] {
            assert_eq!(name_class(name), NameClass::Secret, "{name}");
        }
        for name in ["key", "X_KEY", "sshKey", "DB_PASS", "GH_PAT", "SENTRY_DSN", "_auth"] {
            assert_eq!(name_class(name), NameClass::Maybe, "{name}");
        }
    }

    #[test]
    fn other_names_are_plain() {
        for name in [
            "monkey",
            "path",
            "tokenizer",
            "TOKENIZER",
            "secretary",
            "token_type",
            "tokenUrl",
            "progressToken",
            "next_page_token",
            "author",
            "",
        ] {
            assert_eq!(name_class(name), NameClass::Plain, "{name}");
        }
        assert!(is_secret_name("key") && !is_secret_name("auth"));
    }
}
