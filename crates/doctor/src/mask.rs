//! Keeps secrets out of reports: those we were given, and texts that look like one.

use http::HeaderMap;
use std::ops::Range;

/// What stands in place of a secret.
const HIDDEN: &str = "•••";
/// A value shorter than this is no secret, and hiding it would tear texts apart.
const SHORTEST: usize = 6;
/// Words in names whose values are secrets.
const TELLING: [&str; 8] =
    ["token", "secret", "password", "passwd", "api_key", "apikey", "api-key", "authorization"];
/// How well-known credentials begin.
const PREFIXES: [&str; 14] = [
    "sk-",
    "sk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "npm_",
    "hf_",
    "eyJ",
];

/// The secrets to hide.
#[derive(Clone, Default)]
pub struct Mask {
    known: Vec<String>,
}

impl Mask {
    /// Hides the values of these headers.
    pub fn of_headers(headers: &HeaderMap) -> Self {
        let mut mask = Self::default();
        for (_, value) in headers.iter().filter(|(name, _)| **name != http::header::ORIGIN) {
            if let Ok(text) = value.to_str() {
                mask.add(text);
                text.split_once(' ').into_iter().for_each(|(_, bare)| mask.add(bare));
            }
        }
        mask
    }

    /// Hides the values of these variables, as far as their names or looks say that they are secrets.
    pub fn add_variables(&mut self, variables: &[(String, String)]) {
        for (name, value) in variables {
            // A reference is no secret, but what one is told to write instead.
            let is_reference = value.contains("${") || value.contains("{env:");
            if !is_reference && (is_secret_name(name) || looks_secret(value)) {
                self.add(value.trim_matches(['"', '\'', ' ']));
            }
        }
    }

    /// The text without secrets.
    pub fn hide(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for secret in &self.known {
            out = out.replace(secret, HIDDEN);
        }
        let places: Vec<Range<usize>> = words(&out).filter(|at| is_secret_word(&out, at)).collect();
        for at in places.into_iter().rev() {
            out.replace_range(at, HIDDEN);
        }
        out
    }

    /// Hides these values.
    pub fn add_all(&mut self, values: &[String]) {
        for value in values {
            self.add(value);
        }
    }

    fn add(&mut self, value: &str) {
        if value.len() >= SHORTEST && !self.known.iter().any(|known| known == value) {
            self.known.push(value.to_owned());
            // A value inside a longer one must not split it.
            self.known.sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
    }
}

/// Whether a variable or member of this name holds a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    TELLING.iter().any(|word| name.contains(word))
        || name.ends_with("_key")
        || name == "key"
        || name.ends_with("_pat")
}

/// Whether a value looks like a credential, whatever its name.
pub(super) fn looks_secret(value: &str) -> bool {
    let value = value.strip_prefix("Bearer ").unwrap_or(value);
    let plain = value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.=+/".contains(&b));
    plain && value.len() >= 16 && PREFIXES.iter().any(|prefix| value.starts_with(prefix))
}

/// The runs of characters that credentials are made of.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.+/".contains(c);
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(is_part)?;
        let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |length| start + length);
        at = end;
        Some(start..end)
    })
}

fn is_secret_word(text: &str, at: &Range<usize>) -> bool {
    let word = &text[at.clone()];
    if looks_secret(word) {
        return true;
    }
    let before = &text[..at.start];
    // `token=…`, `"token": "…"` and `Bearer …`; a word by itself may be anything.
    let in_json = || before.strip_suffix('"')?.trim_end().strip_suffix(':')?.trim_end().strip_suffix('"');
    let named = before.strip_suffix('=').or_else(in_json).is_some_and(|rest| {
        let name = rest.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).next();
        name.is_some_and(is_secret_name)
    });
    // In `Bearer realm=…` a parameter follows, and no token.
    let is_parameter = text[at.end..].starts_with('=');
    word.len() >= SHORTEST && (named || before.ends_with("Bearer ") && !is_parameter)
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mask({} secrets)", self.known.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_secrets_are_hidden_wherever_they_stand() {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", "Bearer canary-123".parse().unwrap());
        let mut mask = Mask::of_headers(&headers);
        mask.add_variables(&[
            ("MY_TOKEN".into(), "s3cr3t-value".into()),
            ("LANG".into(), "de_DE.UTF-8".into()),
        ]);
        let text = mask.hide("got canary-123 and s3cr3t-value in de_DE.UTF-8");
        assert_eq!(text, "got ••• and ••• in de_DE.UTF-8");
    }

    #[test]
    fn what_looks_like_a_credential_is_hidden() {
        let mask = Mask::default();
        for (text, hidden) in [
            ("key ghp_abcdefghijklmnop1234 here", "key ••• here"),
            ("http://h/?token=abcdef123&x=1", "http://h/?token=•••&x=1"),
            ("{\"API_KEY\": \"abcdef123\"}", "{\"API_KEY\": \"•••\"}"),
            ("Authorization: Bearer abcdefgh", "Authorization: Bearer •••"),
            ("Bearer resource_metadata=\"x\", error", "Bearer resource_metadata=\"x\", error"),
            ("nothing to see: sk-1 and monkey=12345678", "nothing to see: sk-1 and monkey=12345678"),
        ] {
            assert_eq!(mask.hide(text), hidden);
        }
    }
}
