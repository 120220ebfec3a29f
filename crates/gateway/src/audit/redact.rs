//! Redaction: the parts of a call's arguments that are recorded.
//!
//! By default these are names and sizes. A rule keeps the value of an argument; even then anything
//! that looks like a secret, by its key or by its form, is masked.

use super::members::{push_number, quote};
use serde_json::Value;
use std::borrow::Cow;
use trunkline_protocol::Raw;
use trunkline_secrets::{Caution, Mask, NameClass, name_class};

/// Most arguments of one call that are recorded.
const MAX_ARGUMENTS: usize = 64;

/// Longest kept value, as JSON bytes; of a longer one the beginning of its text is kept.
const MAX_VALUE: usize = 1024;

const MASK: &str = "***";

/// Records are kept, so they are masked strictly.
const SECRETS: Mask = Mask::new(MASK, Caution::Strict);

/// The arguments whose values are kept.
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
    /// Keeps the values of one argument, for one tool or prompt or for all.
    #[must_use]
    pub fn keep(mut self, target: Option<&str>, argument: &str) -> Self {
        self.keep.push(Keep { target: target.map(str::to_owned), argument: argument.to_owned() });
        self
    }

    /// Appends names and sizes of the arguments as a JSON object, and returns another one with the
    /// values that are kept.
    pub(super) fn arguments(&self, target: &str, arguments: &Raw, sizes: &mut String) -> Option<String> {
        let (first, mut values, mut count) = (sizes.len(), String::new(), 0);
        for (name, value) in arguments.members() {
            count += 1;
            if count > MAX_ARGUMENTS {
                continue;
            }
            let shown = SECRETS.hide(&name);
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
        _ if name_class(name) == NameClass::Secret => *value = MASK.into(),
        Value::Number(_) => {}
        Value::String(text) => {
            if let Cow::Owned(masked) = SECRETS.hide(text) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask_value("", item)),
        Value::Object(members) => members.iter_mut().for_each(|(name, item)| mask_value(name, item)),
    }
}

/// The value with everything masked that looks like a secret; null if it is no JSON.
pub(crate) fn masked(value: &trunkline_protocol::Raw) -> Value {
    let mut decoded = value.decode().unwrap_or_default();
    mask_value("", &mut decoded);
    decoded
}

/// `text` with everything masked that looks like a secret.
pub fn mask(text: &str) -> String {
    SECRETS.hide(text).into_owned()
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
            ("Authorization: Bearer abc", "Authorization: Bearer ***"),
            ("curl -H 'x: Bearer abc.def' url", "curl -H 'x: Bearer ***' url"),
            ("password=hunter2 user=ada", "password=*** user=ada"),
            (r#"{"api_key": "k", "n": 1}"#, r#"{"api_key": "***", "n": 1}"#),
            ("https://ada:hunter2@host/x", "https://ada:***@host/x"),
            ("https://tok@host/x", "https://***@host/x"),
            ("git 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "git 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"),
            ("x 9F86d081884c7d659a2feaa0c55ad015a3bf", "x ***"),
            ("a -----BEGIN PRIVATE KEY-----\nMII", "a ***"),
            ("see eyJhbGciOiJIUzI1NiJ9.e30.c2ln now", "see *** now"),
        ] {
            assert_eq!(mask(text), want);
        }
    }

    #[test]
    fn c07_lines_from_the_middle_of_a_key_are_masked() {
        let lines = "\
y/Mlw95oy2lqZDGklOYeCNHb+AVmfgyWPY2TC04tKzo4UmR0jBxBqhvkXjbWao5v
tQQKUwflvmPiYst7I0YcX2QSxSb8plFP6h/GKq++TYWV2V543zxzAttPowIDAQAB";
        assert_eq!(mask(&format!("a\n{lines}\nb")), "a\n***\nb");
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
