//! Takes secrets out of logs: tokens known by their shape, values given to names that mean a secret, credentials in
//! addresses, and private keys.

/// What stands where a secret stood.
const REDACTED: &str = "[redacted]";

/// How tokens of well-known services begin, and how many characters follow at least.
const TOKENS: [(&str, usize); 24] = [
    ("AKIA", 16),
    ("AIza", 30),
    ("ASIA", 16),
    ("dckr_pat_", 20),
    ("dop_v1_", 40),
    ("gho_", 30),
    ("ghp_", 30),
    ("ghr_", 30),
    ("ghs_", 30),
    ("ghu_", 30),
    ("github_pat_", 40),
    ("glcbt-", 20),
    ("gldt-", 20),
    ("glpat-", 16),
    ("glptt-", 20),
    ("glrt-", 16),
    ("hf_", 30),
    ("npm_", 30),
    ("pypi-", 40),
    ("sk-", 32),
    ("sk_live_", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("ya29.", 30),
];

/// Parts of names whose values are secrets.
const NAMES: [&str; 11] = [
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "private_key",
    "authorization",
    "credential",
];

/// Shortest value that is taken for a secret; `token: 3` is a number of tokens.
const SHORTEST_VALUE: usize = 6;

/// `text` without secrets.
pub(super) fn redact(text: &str) -> String {
    let mut shown = Vec::new();
    let mut in_key = false;
    for line in text.split('\n') {
        if line.contains("-----BEGIN ") && line.contains("PRIVATE KEY") {
            in_key = true;
            shown.push(REDACTED.to_owned());
        }
        if !in_key {
            shown.push(without_values(&without_tokens(&without_credentials(line))));
        }
        if line.contains("-----END ") && line.contains("PRIVATE KEY") {
            in_key = false;
        }
    }
    shown.join("\n")
}

/// `text` without secrets, `known` ones included.
pub(super) fn redact_known(text: &str, known: &str) -> String {
    if known.len() < SHORTEST_VALUE {
        return redact(text);
    }
    redact(&text.replace(known, REDACTED))
}

/// Without what stands before an `@` in an address.
fn without_credentials(line: &str) -> String {
    let mut rest = line;
    let mut shown = String::new();
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        let end = after.find(|c: char| "/'\"<> \t".contains(c)).unwrap_or(after.len());
        let (authority, next) = after.split_at(end);
        match authority.rsplit_once('@') {
            Some((_, host)) => {
                shown.push_str(REDACTED);
                shown.push('@');
                shown.push_str(host);
            }
            None => shown.push_str(authority),
        }
        rest = next;
    }
    shown.push_str(rest);
    shown
}

/// Without words that look like tokens.
fn without_tokens(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !is_token(c)).unwrap_or(rest.len());
        let (word, next) = rest.split_at(end);
        shown.push_str(if looks_like_token(word) { REDACTED } else { word });
        let gap = next.find(is_token).unwrap_or(next.len());
        let (between, next) = next.split_at(gap);
        shown.push_str(between);
        rest = next;
    }
    shown
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn looks_like_token(word: &str) -> bool {
    let known = TOKENS.iter().any(|(prefix, rest)| {
        word.strip_prefix(prefix)
            .is_some_and(|secret| secret.len() >= *rest && secret.bytes().any(|b| b.is_ascii_digit()))
    });
    // A JSON Web Token: three parts, the first two of which begin with `{"` in base64.
    known || (word.starts_with("eyJ") && word.split('.').count() == 3 && word.contains(".eyJ"))
}

/// Without the values of names that mean a secret: `NAME=value`, `name: value`, `"name": "value"`.
fn without_values(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['=', ':']) {
        let (before, after) = rest.split_at(at + 1);
        shown.push_str(before);
        rest = after;
        if !is_secret_name(&before[..at]) {
            continue;
        }
        let start = rest.find(|c: char| !matches!(c, ' ' | '"' | '\'')).unwrap_or(rest.len());
        shown.push_str(&rest[..start]);
        rest = &rest[start..];
        for scheme in ["Bearer ", "Basic ", "token "] {
            if let Some(next) = rest.strip_prefix(scheme) {
                shown.push_str(scheme);
                rest = next;
            }
        }
        let end = rest.find(|c: char| c.is_whitespace() || "\"',;)]}".contains(c)).unwrap_or(rest.len());
        if end >= SHORTEST_VALUE && !rest[..end].starts_with(['[', '*', '$', '(']) && !is_code(&rest[..end]) {
            shown.push_str(REDACTED);
            rest = &rest[end..];
        }
    }
    shown.push_str(rest);
    shown
}

/// The word right before the sign is the name.
fn is_secret_name(before: &str) -> bool {
    let word = before.trim_end_matches([' ', '"', '\'']);
    let word = word.rsplit(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).next();
    let word = word.unwrap_or_default().to_ascii_lowercase();
    NAMES.iter().any(|name| word.ends_with(name))
}

/// `Token::new(…)` and `token: String` are source code.
fn is_code(value: &str) -> bool {
    value.starts_with([':', '=', '<', '&']) || value.contains("::") || value.contains('(')
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
        assert_eq!(redact("https://me:pw@host/x"), "https://[redacted]@host/x");
        let key = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb";
        assert_eq!(redact(key), "a\n[redacted]\nb");
        assert_eq!(redact("a:\nb"), "a:\nb");
    }

    #[test]
    fn the_known_token_vanishes_whatever_its_shape() {
        assert_eq!(redact_known("sent opaque-value-1 away", "opaque-value-1"), "sent [redacted] away");
    }
}
