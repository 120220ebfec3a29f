//! References in texts: `{env:NAME}`, `${NAME}`, `${NAME:-default}`, `{file:path}`, `{keychain:service/account}`.
//!
//! They may stand anywhere in a text, several in one. What only resembles a reference stays as it is, what a reference stands for is not
//! looked at again, and `$${` means `${`.

use crate::secret::MASK;

/// A text, cut at its references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Literal(&'a str),
    Variable { name: &'a str, default: Option<&'a str> },
    File(&'a str),
    Keychain { service: &'a str, account: &'a str },
}

/// Whether anything in the text stands for something else.
pub(crate) fn has_reference(text: &str) -> bool {
    pieces(text).iter().any(|piece| !matches!(piece, Piece::Literal(_)))
}

pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let (mut rest, mut from) = (text, 0);
    while let Some(offset) = rest[from..].find(['{', '$']) {
        let at = from + offset;
        let tail = &rest[at..];
        if let Some(after) = tail.strip_prefix("$${") {
            // The first `$` only keeps the second from meaning anything.
            literal(&mut found, &rest[..at]);
            literal(&mut found, "${");
            (rest, from) = (after, 0);
        } else if let Some((piece, after)) = reference(tail) {
            literal(&mut found, &rest[..at]);
            found.push(piece);
            (rest, from) = (after, 0);
        } else {
            from = at + 1;
        }
    }
    literal(&mut found, rest);
    found
}

/// How the text may be shown: references as they are written, without the defaults that could be secrets.
pub(crate) fn shown(text: &str) -> String {
    let piece = |piece: &Piece<'_>| match piece {
        Piece::Literal(text) => (*text).to_owned(),
        Piece::Variable { name, default: None } => format!("{{env:{name}}}"),
        Piece::Variable { name, default: Some(default) } => {
            let default = if crate::looks::secret(name, default) { MASK } else { default };
            format!("${{{name}:-{default}}}")
        }
        Piece::File(path) => format!("{{file:{path}}}"),
        Piece::Keychain { service, account } => format!("{{keychain:{service}/{account}}}"),
    };
    pieces(text).iter().map(piece).collect()
}

fn literal<'a>(found: &mut Vec<Piece<'a>>, text: &'a str) {
    if !text.is_empty() {
        found.push(Piece::Literal(text));
    }
}

/// The reference that `text` begins with, and what comes after it.
fn reference(text: &str) -> Option<(Piece<'_>, &str)> {
    if let Some(inner) = text.strip_prefix("${") {
        let (inner, after) = inner.split_once('}')?;
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        return is_name(name).then_some((Piece::Variable { name, default }, after));
    }
    let (inner, after) = text.strip_prefix('{')?.split_once('}')?;
    let (kind, what) = inner.split_once(':')?;
    let piece = match kind {
        "env" if is_name(what) => Piece::Variable { name: what, default: None },
        "file" if !what.is_empty() => Piece::File(what),
        "keychain" => {
            let (service, account) = what.split_once('/')?;
            Piece::Keychain { service, account }
        }
        _ => return None,
    };
    Some((piece, after))
}

pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_reference_is_found_anywhere() {
        use Piece::{File, Keychain, Literal, Variable};
        let found = pieces("a{env:A}b${B}${C:-d e}{file:~/x}{keychain:svc/me@x}z");
        assert_eq!(
            found,
            [
                Literal("a"),
                Variable { name: "A", default: None },
                Literal("b"),
                Variable { name: "B", default: None },
                Variable { name: "C", default: Some("d e") },
                File("~/x"),
                Keychain { service: "svc", account: "me@x" },
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
            "{keychain:x}",
            "{file:}",
            "${A b}",
            "{\"a\": 1}",
        ] {
            assert_eq!(pieces(text), [Piece::Literal(text)], "{text}");
        }
        assert!(pieces("").is_empty());
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
