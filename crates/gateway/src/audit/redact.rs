//! What of a call's arguments may be written down.
//!
//! By default their names and sizes. A rule keeps the value of an argument, and even then what looks like a secret is
//! masked: by the name it stands under, or by its shape.

use super::members::{push_number, quote};
use serde_json::Value;
use std::borrow::Cow;
use trunkline_protocol::Raw;

/// Most arguments of one call that are named.
const MAX_ARGUMENTS: usize = 64;

/// Longest kept value, as JSON; longer ones are kept as the beginning of their text.
const MAX_VALUE: usize = 1024;

const MASK: &str = "***";

/// Parts of names under which secrets stand; compared without case, `-` and `_`.
const SECRET_NAMES: &[&str] = &[
    "apikey",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "jwt",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "secret",
    "sessionid",
    "signature",
    "token",
];

/// How well-known secrets begin.
const SECRET_PREFIXES: &[&str] = &[
    "AIza",
    "AKIA",
    "ASIA",
    "dop_v1_",
    "eyJ",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "hf_",
    "npm_",
    "pypi-",
    "rk_live_",
    "sk-",
    "sk_live_",
    "tl_",
    "xoxa-",
    "xoxb-",
    "xoxp-",
    "xoxr-",
    "xoxs-",
    "ya29.",
];

/// No secret that is known by its beginning is shorter.
const SHORTEST: usize = 16;

/// A text from here on that mixes cases and digits is taken for a key.
const RANDOM_LENGTH: usize = 32;

/// Which arguments are kept with their values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redaction {
    keep: Vec<Keep>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Keep {
    target: Option<String>,
    argument: String,
}

impl Redaction {
    /// Keeps the values of one argument, of one tool or prompt or of all.
    #[must_use]
    pub fn keep(mut self, target: Option<&str>, argument: &str) -> Self {
        self.keep.push(Keep { target: target.map(str::to_owned), argument: argument.to_owned() });
        self
    }

    /// Appends the names and sizes of arguments as a JSON object, and gives the values that are kept as another.
    pub(super) fn arguments(&self, target: &str, arguments: &Raw, sizes: &mut String) -> Option<String> {
        let (first, mut values, mut count) = (sizes.len(), String::new(), 0);
        for (name, value) in arguments.members() {
            count += 1;
            if count > MAX_ARGUMENTS {
                continue;
            }
            let shown = masked(&name);
            sizes.push(if sizes.len() == first { '{' } else { ',' });
            quote(sizes, &shown);
            sizes.push(':');
            push_number(sizes, value.len() as u64);
            if self.keeps(target, &name) {
                values.push(if values.is_empty() { '{' } else { ',' });
                quote(&mut values, &shown);
                values.push(':');
                values.push_str(&kept(&name, value));
            }
        }
        if count > MAX_ARGUMENTS {
            sizes.push_str(",\"...\":");
            push_number(sizes, (count - MAX_ARGUMENTS) as u64);
        }
        sizes.push_str(if count == 0 { "{}" } else { "}" });
        (!values.is_empty()).then(|| values + "}")
    }

    fn keeps(&self, target: &str, argument: &str) -> bool {
        self.keep.iter().any(|rule| {
            rule.argument == argument && rule.target.as_deref().is_none_or(|wanted| wanted == target)
        })
    }
}

/// The value as JSON, secrets masked and length bounded.
fn kept(name: &str, value: &[u8]) -> String {
    let Ok(mut decoded) = serde_json::from_slice::<Value>(value) else { return format!("\"{MASK}\"") };
    mask_value(name, &mut decoded);
    let text = decoded.to_string();
    if text.len() <= MAX_VALUE {
        return text;
    }
    let mut out = String::new();
    quote(&mut out, decoded.as_str().unwrap_or(&text));
    out
}

fn mask_value(name: &str, value: &mut Value) {
    match value {
        Value::Null | Value::Bool(_) => {}
        _ if is_secret_name(name) => *value = MASK.into(),
        Value::Number(_) => {}
        Value::String(text) => *text = mask(text),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_value("", item)),
        Value::Object(members) => members.iter_mut().for_each(|(name, item)| mask_value(name, item)),
    }
}

/// `text` without what looks like a secret.
pub fn mask(text: &str) -> String {
    masked(text).into_owned()
}

fn masked(text: &str) -> Cow<'_, str> {
    // One short word is no secret, and nothing announces it.
    if text.len() < SHORTEST && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Cow::Borrowed(text);
    }
    if text.contains("PRIVATE KEY-----") {
        return Cow::Borrowed(MASK);
    }
    let text = &mask_userinfo(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    // Whether the word before announces a secret: `Bearer`, `password=`, `--token`.
    let mut announced = false;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(|c| !in_word(c)).unwrap_or(rest.len()));
        let (between, next) = after.split_at(after.find(in_word).unwrap_or(after.len()));
        out.push_str(if announced || is_secret(word) { MASK } else { word });
        out.push_str(between);
        let announces =
            ["bearer", "basic"].iter().any(|w| word.eq_ignore_ascii_case(w)) || is_secret_name(word);
        announced = announces && between.chars().all(|c| matches!(c, ' ' | '=' | ':' | '"' | '\''));
        rest = next;
    }
    Cow::Owned(out)
}

/// Masks what stands between `://` and `@`.
fn mask_userinfo(text: &str) -> String {
    let mut parts = text.split("://");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("://");
        let end = part.find(|c: char| "/?#\"'".contains(c) || c.is_whitespace()).unwrap_or(part.len());
        match part[..end].rfind('@') {
            Some(at) => out.extend([MASK, &part[at..]]),
            None => out.push_str(part),
        }
    }
    out
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '~')
}

fn is_secret_name(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    SECRET_NAMES.iter().any(|part| plain.contains(part))
}

fn is_secret(word: &str) -> bool {
    if word.len() >= SHORTEST && SECRET_PREFIXES.iter().any(|prefix| word.starts_with(prefix)) {
        return true;
    }
    let has = |wanted: fn(&u8) -> bool| word.as_bytes().iter().any(wanted);
    word.len() >= RANDOM_LENGTH
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && !word.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names with sizes, and values.
    fn redacted(rules: &Redaction, arguments: &str) -> (String, Option<String>) {
        let mut sizes = String::new();
        let values = rules.arguments("t", &Raw::parse(arguments.to_owned()).unwrap(), &mut sizes);
        (sizes, values)
    }

    #[test]
    fn only_names_and_sizes_are_kept_by_default() {
        let got = redacted(&Redaction::default(), r#"{"path":"/etc/x","deep":{"a":[1,2]}}"#);
        assert_eq!(got, (r#"{"path":8,"deep":11}"#.to_owned(), None));
        assert_eq!(redacted(&Redaction::default(), "{ }"), ("{}".to_owned(), None));
    }

    #[test]
    fn rules_keep_values_and_secrets_in_them_are_masked() {
        let rules =
            Redaction::default().keep(Some("t"), "path").keep(None, "password").keep(Some("u"), "deep");
        let got = redacted(&rules, r#"{"path":"/a/ghp_0123456789abcdef","password":[1],"deep":1}"#);
        assert_eq!(got.1.unwrap(), r#"{"path":"/a/***","password":"***"}"#);
    }

    #[test]
    fn secrets_are_known_by_shape_and_by_what_stands_before_them() {
        for (text, want) in [
            ("plain text, with: marks / and 12", "plain text, with: marks / and 12"),
            ("Authorization: Bearer abc", "Authorization: *** ***"),
            ("curl -H 'x: Bearer abc.def' url", "curl -H 'x: Bearer ***' url"),
            ("password=hunter2 user=ada", "password=*** user=ada"),
            (r#"{"api_key": "k", "n": 1}"#, r#"{"api_key": "***", "n": 1}"#),
            ("https://ada:hunter2@host/x", "https://***@host/x"),
            ("https://tok@host/x", "https://***@host/x"),
            ("git 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "git 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"),
            ("x 9F86d081884c7d659a2feaa0c55ad015a3bf", "x ***"),
            ("a -----BEGIN PRIVATE KEY-----\nMII", "***"),
            ("see eyJhbGciOiJIUzI1NiJ9.e30.c2ln now", "see *** now"),
        ] {
            assert_eq!(mask(text), want);
        }
    }

    #[test]
    fn many_and_long_arguments_are_bounded() {
        let many: Vec<_> = (0..1000).map(|n| format!("\"{}{n}\":1", "n".repeat(2000))).collect();
        let got = redacted(&Redaction::default(), &format!("{{{}}}", many.join(",")));
        assert!(got.0.len() < 64 * 300 && got.0.ends_with(r#","...":936}"#), "{}", got.0.len());
        let rules = Redaction::default().keep(None, "a");
        let got = redacted(&rules, &format!(r#"{{"a":"{}"}}"#, "x ".repeat(100_000)));
        assert!(got.1.unwrap().len() < 300);
    }
}
