//! `UriTemplate`: the part of RFC 6570 that can be matched in one pass over the URI.
//!
//! `{name}` matches one path segment; `{+name}` or `{#name}` may contain slashes and must be the
//! last variable. Values are percent-decoded and cannot be used for path traversal: a segment `.`
//! or `..` and an encoded slash (`%2F`) do not match.

use std::collections::BTreeMap;

/// The values of variables by their names.
pub(crate) type Variables = BTreeMap<String, String>;

/// Longest URI that is matched.
const MAX_URI: usize = 8 * 1024;

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UriTemplate {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Variable { name: String, kind: Kind },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `{name}`: no slashes.
    Piece,
    /// `{+name}`: may contain slashes.
    Path,
    /// `{#name}`: same as `Path`, after a `#`.
    Fragment,
}

/// An invalid template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadTemplate {
    #[error("a brace is not closed, or closed without being opened")]
    Brace,
    #[error("a variable name is empty or has characters other than letters, digits and `_`")]
    Name,
    #[error("two variables are adjacent; put a literal between them")]
    Adjacent,
    #[error("`{{+name}}` or `{{#name}}` is not the last variable")]
    PathNotLast,
    #[error("a variable name is used twice")]
    Twice,
    #[error("the template has no variable")]
    NoVariable,
}

impl UriTemplate {
    pub(crate) fn parse(template: &str) -> Result<Self, BadTemplate> {
        let mut parts = Vec::new();
        let mut rest = template;
        while let Some(open) = rest.find(['{', '}']) {
            if rest[open..].starts_with('}') {
                return Err(BadTemplate::Brace);
            }
            if open > 0 {
                parts.push(Part::Literal(rest[..open].to_owned()));
            }
            let close = open + rest[open..].find('}').ok_or(BadTemplate::Brace)?;
            parts.push(variable(&rest[open + 1..close])?);
            rest = &rest[close + 1..];
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        check(&parts)?;
        Ok(Self { parts })
    }

    /// The values of the variables if the URI matches, else `None`.
    pub(crate) fn matches(&self, uri: &str) -> Option<Variables> {
        if uri.len() > MAX_URI {
            return None;
        }
        let (mut rest, mut values) = (uri, Variables::new());
        for (at, part) in self.parts.iter().enumerate() {
            match part {
                Part::Literal(text) => rest = rest.strip_prefix(text.as_str())?,
                Part::Variable { name, kind } => {
                    let end = self.end_of_variable(at, rest)?;
                    values.insert(name.clone(), kind.value(&rest[..end])?);
                    rest = &rest[end..];
                }
            }
        }
        rest.is_empty().then_some(values)
    }

    /// End of variable `at` in `rest`: the last literal must match at the end of the URI, any
    /// other one at its first occurrence.
    fn end_of_variable(&self, at: usize, rest: &str) -> Option<usize> {
        let first = rest.chars().next()?.len_utf8();
        match self.parts.get(at + 1) {
            Some(Part::Literal(text)) if at + 2 == self.parts.len() => {
                rest.strip_suffix(text.as_str()).map(str::len)
            }
            Some(Part::Literal(text)) => Some(first + rest[first..].find(text.as_str())?),
            _ => Some(rest.len()),
        }
    }
}

fn variable(expression: &str) -> Result<Part, BadTemplate> {
    let (kind, name) = match expression.chars().next() {
        Some('+') => (Kind::Path, &expression[1..]),
        Some('#') => (Kind::Fragment, &expression[1..]),
        _ => (Kind::Piece, expression),
    };
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return Err(BadTemplate::Name);
    }
    Ok(Part::Variable { name: name.to_owned(), kind })
}

fn check(parts: &[Part]) -> Result<(), BadTemplate> {
    let variables: Vec<(usize, &str, Kind)> = parts
        .iter()
        .enumerate()
        .filter_map(|(at, part)| match part {
            Part::Variable { name, kind } => Some((at, name.as_str(), *kind)),
            Part::Literal(_) => None,
        })
        .collect();
    let Some((last, before)) = variables.split_last() else { return Err(BadTemplate::NoVariable) };
    if before.iter().any(|(_, _, kind)| *kind != Kind::Piece) {
        return Err(BadTemplate::PathNotLast);
    }
    if variables.windows(2).any(|pair| pair[0].0 + 1 == pair[1].0) {
        return Err(BadTemplate::Adjacent);
    }
    let twice = variables.iter().enumerate().any(|(i, v)| variables[..i].iter().any(|w| w.1 == v.1));
    if twice || before.iter().any(|v| v.1 == last.1) {
        return Err(BadTemplate::Twice);
    }
    Ok(())
}

impl Kind {
    fn value(self, text: &str) -> Option<String> {
        let text = match self {
            Self::Fragment => text.strip_prefix('#')?,
            Self::Piece | Self::Path => text,
        };
        let allowed = |b: u8| match self {
            Self::Piece => b.is_ascii_alphanumeric() || b"-._~%:@!$&'()*+;=".contains(&b) || b >= 0x80,
            Self::Path | Self::Fragment => b > b' ' && b != 0x7f && b != b'\\',
        };
        if text.is_empty() || !text.bytes().all(allowed) {
            return None;
        }
        let decoded = decode(text)?;
        let slashes = |s: &str| s.matches(['/', '\\']).count();
        let hidden = slashes(&decoded) != text.matches('/').count();
        let climbs = decoded.split('/').any(|piece| piece == "." || piece == "..");
        (!hidden && !climbs && !decoded.chars().any(char::is_control)).then_some(decoded)
    }
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let byte = if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            if !digits.iter().all(u8::is_ascii_hexdigit) {
                return None;
            }
            u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
        } else {
            byte
        };
        bytes.push(byte);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(template: &str, uri: &str) -> Option<Vec<String>> {
        let values = UriTemplate::parse(template).unwrap().matches(uri)?;
        Some(values.into_values().collect())
    }

    fn texts<const N: usize>(values: &[&str; N]) -> Option<Vec<String>> {
        (N > 0).then(|| values.iter().map(|&v| v.to_owned()).collect())
    }

    #[test]
    fn variables_hold_what_stands_in_their_place() {
        assert_eq!(matched("test://template/{id}/data", "test://template/7/data"), texts(&["7"]));
        assert_eq!(matched("a://{x}-{y}", "a://1-2-3"), texts(&["1", "2-3"]));
        assert_eq!(matched("a://{x}/a/{y}/a", "a://1/a/2/a"), texts(&["1", "2"]));
        assert_eq!(matched("f:///{+path}", "f:///a/b%20c"), texts(&["a/b c"]));
        assert_eq!(matched("f://x{#part}", "f://x#y/z"), texts(&["y/z"]));
        assert_eq!(matched("a://{x}", "a://"), None);
        assert_eq!(matched("a://{x}", "a://1/2"), None);
        assert_eq!(matched("a://{x}.txt", "a://b.txt.txt"), texts(&["b.txt"]));
    }

    #[test]
    fn x05_no_variable_leads_out_of_its_place() {
        for uri in [
            "f:///../etc/passwd",
            "f:///a/../../b",
            "f:///%2e%2e/b",
            "f:///a%2fb",
            "f:///a%5c..%5cb",
            "f:///a%00b",
            "f:///a%zz",
            "f:///%ff",
            "f:///a\\b",
        ] {
            assert_eq!(matched("f:///{+path}", uri), None, "{uri}");
        }
        assert_eq!(matched("a://{x}/y", "a://%2e%2e/y"), None);
        assert_eq!(matched("a://{x}", "a://a%2Fb"), None);
    }

    #[test]
    fn x05_what_cannot_be_matched_in_one_pass_is_refused() {
        for (template, why) in [
            ("a://{x", BadTemplate::Brace),
            ("a://x}", BadTemplate::Brace),
            ("a://{}", BadTemplate::Name),
            ("a://{x*}", BadTemplate::Name),
            ("a://{x}{y}", BadTemplate::Adjacent),
            ("a://{+x}/{y}", BadTemplate::PathNotLast),
            ("a://{x}/{x}", BadTemplate::Twice),
            ("a://x", BadTemplate::NoVariable),
        ] {
            assert_eq!(UriTemplate::parse(template), Err(why), "{template}");
        }
    }

    #[test]
    fn x05_a_bait_for_backtracking_takes_one_pass() {
        let pieces: Vec<String> = (0..200).map(|i| format!("{{v{i}}}")).collect();
        let template = UriTemplate::parse(&format!("t://{}b", pieces.join("a"))).unwrap();
        let bait = format!("t://{}", "a".repeat(MAX_URI - 10));
        assert_eq!(template.matches(&bait), None);
        assert_eq!(template.matches(&"a".repeat(MAX_URI + 1)), None);
    }
}
