//! References in texts: `{env:NAME}`, `${NAME}`, `${NAME:-default}`, `{file:path}`,
//! `{keychain:NAME}`.
//!
//! A text may contain several, at any position. Malformed references are kept as text, resolved
//! values are not expanded again, and `$${` means `${`.

use crate::secret::MASK;

/// A piece of a text: literal text or a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Literal(&'a str),
    Variable {
        name: &'a str,
        default: Option<&'a str>,
    },
    File(&'a str),
    /// The name of a secret.
    Keychain(&'a str),
}

/// True if the text contains a reference or an escape.
pub(crate) fn has_reference(text: &str) -> bool {
    pieces(text).iter().any(|piece| !matches!(piece, Piece::Literal(_)))
}

pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut ahead = Ahead::of(text);
    // Start of the text not yet consumed, and where to continue searching.
    let (mut taken, mut from) = (0, 0);
    while let Some(offset) = text[from..].find(['{', '$']) {
        let at = from + offset;
        let (piece, end) = if text[at..].starts_with("$${") {
            // The first `$` escapes the second.
            (Piece::Literal("${"), at + 3)
        } else if let Some(reference) = ahead.reference(at) {
            reference
        } else {
            from = at + 1;
            continue;
        };
        literal(&mut found, &text[taken..at]);
        found.push(piece);
        (taken, from) = (end, end);
    }
    literal(&mut found, &text[taken..]);
    found
}

/// The kinds of reference that have a name.
const KINDS: [&str; 3] = ["env", "file", "keychain"];

/// A part that was probably meant as a reference, and the reference: a misspelt kind as in
/// `{evn:NAME}`, or the syntax of editors, `${env:NAME}`.
pub(crate) fn misspelt(text: &str) -> Option<(String, String)> {
    // Long enough for every kind with one letter too many.
    const KIND: usize = 10;
    let mut close = 0;
    for (at, _) in text.match_indices('{') {
        let Some(colon) = text.bytes().skip(at + 1).take(KIND).position(|byte| byte == b':') else {
            continue;
        };
        // Each closing brace is searched once, so that the whole scan takes linear time.
        if close <= at {
            close = at + text[at..].find('}')?;
        }
        let inner = &text[at + 1..close];
        let Some((kind, rest)) = inner.split_at_checked(colon) else { continue };
        let rest = rest.get(1..).unwrap_or_default();
        let is_editors = text[..at].ends_with('$') && !text[..at].ends_with("$$");
        if is_editors && kind == "env" && is_variable_name(rest) {
            return Some((format!("${{{inner}}}"), format!("{{{inner}}}")));
        }
        let near = KINDS.iter().find(|known| strsim::damerau_levenshtein(kind, known) == 1);
        if let Some(known) = near.filter(|known| **known != "env" || is_variable_name(rest)) {
            return Some((format!("{{{inner}}}"), format!("{{{known}:{rest}}}")));
        }
    }
    None
}

/// The text for display: references as written, without defaults, which could be secrets.
pub(crate) fn shown(text: &str) -> String {
    pieces(text).iter().map(Piece::shown).collect()
}

impl Piece<'_> {
    /// The piece for display, without a default that looks like a secret.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Variable { name, default: Some(default) } if crate::looks::secret(name, default) => {
                Self::Variable { name, default: Some(MASK) }.written()
            }
            piece => piece.written(),
        }
    }

    /// The piece as it can be written in a file.
    pub(crate) fn written(&self) -> String {
        match self {
            Self::Literal(text) => (*text).to_owned(),
            Self::Variable { name, default: None } => format!("{{env:{name}}}"),
            Self::Variable { name, default: Some(default) } => format!("${{{name}:-{default}}}"),
            Self::File(path) => format!("{{file:{path}}}"),
            Self::Keychain(name) => format!("{{keychain:{name}}}"),
        }
    }
}

fn literal<'a>(found: &mut Vec<Piece<'a>>, text: &'a str) {
    if !text.is_empty() {
        found.push(Piece::Literal(text));
    }
}

/// A forward-only scanner: search results are cached, so that the whole scan takes linear time.
struct Ahead<'a> {
    text: &'a str,
    brace: Next,
}

/// Cached position of the next occurrence of a character.
struct Next {
    wanted: char,
    at: Option<usize>,
}

impl<'a> Ahead<'a> {
    fn of(text: &'a str) -> Self {
        // Position 0 means "not searched yet": no reference can end at the start of the text.
        let next = |wanted| Next { wanted, at: Some(0) };
        Self { text, brace: next('}') }
    }

    /// The reference that starts here, and its end.
    fn reference(&mut self, at: usize) -> Option<(Piece<'a>, usize)> {
        let text = self.text;
        let behind = |opening: &str| text[at..].starts_with(opening).then_some(at + opening.len());
        if let Some(start) = behind("${") {
            return self.variable(start);
        }
        if let Some(start) = behind("{env:") {
            let plain = |piece: &Piece<'_>| matches!(piece, Piece::Variable { default: None, .. });
            return self.variable(start).filter(|(piece, _)| plain(piece));
        }
        if let Some(start) = behind("{file:") {
            let end = self.brace.at_or_behind(start, text)?;
            return (end > start).then(|| (Piece::File(&text[start..end]), end + 1));
        }
        let start = behind("{keychain:")?;
        let end = self.brace.at_or_behind(start, text)?;
        let name = &text[start..end];
        is_secret_name(name).then_some((Piece::Keychain(name), end + 1))
    }

    /// The variable name that starts here, with an optional default, up to the closing brace.
    fn variable(&mut self, start: usize) -> Option<(Piece<'a>, usize)> {
        let rest = &self.text[start..];
        let (name, after) = rest.split_at(rest.find(|c| !is_name_character(c)).unwrap_or(rest.len()));
        let end = start + name.len();
        if !is_variable_name(name) {
            None
        } else if after.starts_with('}') {
            Some((Piece::Variable { name, default: None }, end + 1))
        } else {
            let default = after.starts_with(":-").then_some(end + 2)?;
            let close = self.brace.at_or_behind(default, self.text)?;
            Some((Piece::Variable { name, default: Some(&self.text[default..close]) }, close + 1))
        }
    }
}

impl Next {
    fn at_or_behind(&mut self, from: usize, text: &str) -> Option<usize> {
        if self.at.is_some_and(|at| at < from) {
            self.at = text[from..].find(self.wanted).map(|offset| from + offset);
        }
        self.at
    }
}

/// True if a secret may have this name: up to 128 letters, digits and characters of `._@/-`.
pub fn is_secret_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._@/-".contains(c);
    (1..=128).contains(&name.len()) && name.chars().all(is_plain)
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// True if a reference may name this variable: letters, digits and `_`, without a leading digit.
pub fn is_variable_name(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_name_character)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonc::MAX_BYTES;

    #[test]
    fn every_kind_of_reference_is_found_anywhere() {
        use Piece::{File, Keychain, Literal, Variable};
        let found = pieces("a{env:A}b${B}${C:-d e}{file:~/x}{keychain:svc/me@x}{keychain:K}z");
        assert_eq!(
            found,
            [
                Literal("a"),
                Variable { name: "A", default: None },
                Literal("b"),
                Variable { name: "B", default: None },
                Variable { name: "C", default: Some("d e") },
                File("~/x"),
                Keychain("svc/me@x"),
                Keychain("K"),
                Literal("z"),
            ]
        );
    }

    #[test]
    fn what_only_resembles_a_reference_stays() {
        for text in [
            "$A",
            "${}",
            "{env:}",
            "${A",
            "{A}",
            "${9}",
            "é{env",
            "{keychain:}",
            "{keychain:x y}",
            "{file:}",
            "${A b}",
            "{\"a\": 1}",
        ] {
            assert_eq!(pieces(text), [Piece::Literal(text)], "{text}");
        }
        assert!(pieces("").is_empty());
    }

    #[test]
    fn what_is_never_closed_is_looked_through_once() {
        for opening in ["{", "$", "${A:-", "{env:", "{file:", "{keychain:", "${9"] {
            let many = opening.repeat(MAX_BYTES / opening.len());
            assert_eq!(pieces(&many), [Piece::Literal(many.as_str())], "{opening}");
        }
        let closed = format!("{}}}", "{keychain:".repeat(MAX_BYTES / 10));
        assert_eq!(pieces(&closed).len(), 1);
    }

    #[test]
    fn misspelt_references_are_recognized() {
        for (text, written, meant) in [
            ("Bearer {evn:FOO}", "{evn:FOO}", "{env:FOO}"),
            ("{a}{fille:~/x}", "{fille:~/x}", "{file:~/x}"),
            ("{keychian:a/b}", "{keychian:a/b}", "{keychain:a/b}"),
            ("x${env:FOO}", "${env:FOO}", "{env:FOO}"),
        ] {
            assert_eq!(misspelt(text), Some((written.to_owned(), meant.to_owned())), "{text}");
        }
        for text in ["{env:A}${B}{file:x}", "{end:5}", "{\"env\": 1}", "{x:y}", "$${env:A}", "{evn:", "{é:}"]
        {
            assert_eq!(misspelt(text), None, "{text}");
        }
        let many = format!("{}}}", "{evn:".repeat(MAX_BYTES / 5));
        assert_eq!(misspelt(&many), None);
    }

    #[test]
    fn two_dollars_write_one() {
        let text: String = pieces("x$${A}y")
            .iter()
            .map(|piece| if let Piece::Literal(text) = piece { text } else { "?" })
            .collect();
        assert_eq!(text, "x${A}y");
    }

    #[test]
    fn a_default_that_looks_like_a_secret_is_not_shown() {
        assert_eq!(shown("${API_KEY:-abc123def456}"), "${API_KEY:-***}");
        assert_eq!(shown("${REGION:-eu}/{env:X}"), "${REGION:-eu}/{env:X}");
    }
}
