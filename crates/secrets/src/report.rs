//! Names the kind of secret in a text, for reports about published texts. Only certain findings
//! are named: an example in a description is not a leak.

use crate::{
    address,
    anchors::{ANCHORS, Anchor},
    pem,
    shapes::SHAPES,
    token,
};

/// Prefixes of example passwords.
const EXAMPLES: [&str; 8] = ["pass", "secret", "pwd", "token", "xxx", "changeme", "example", "your"];

/// Minimum length of a password; shorter ones are examples.
const SHORTEST_PASSWORD: usize = 6;

/// The kind of secret in the text, with its article: `a GitHub token`.
pub fn find(text: &str) -> Option<&'static str> {
    let (automaton, anchors) = &*ANCHORS;
    let bytes = text.as_bytes();
    automaton.find_overlapping_iter(text).find_map(|hit| match anchors[hit.pattern().as_usize()] {
        Anchor::Token(row) => {
            let shape = &SHAPES[row];
            let token = token::at(bytes, shape, hit.start(), shape.issued)?;
            // Tokens without digits are examples.
            bytes[token.start + shape.prefix.len()..token.end]
                .iter()
                .any(u8::is_ascii_digit)
                .then_some(shape.kind)
        }
        Anchor::Address => {
            let password = address::password(bytes, hit.end())?;
            let host = &bytes[password.end + 1..];
            let is_leak = !host.starts_with(b"localhost") && is_password(&text[password]);
            is_leak.then_some("an address with a password")
        }
        Anchor::PrivateKey => pem::key(bytes, &hit.range(), 0).map(|_| "a private key"),
        Anchor::Name | Anchor::MaybeName | Anchor::Bearer | Anchor::Basic => None,
    })
}

fn is_password(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_example =
        EXAMPLES.iter().any(|word| lower.starts_with(word)) || text.contains(['$', '{', '*', '<']);
    text.len() >= SHORTEST_PASSWORD && text.bytes().any(|byte| byte.is_ascii_digit()) && !is_example
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issued_tokens_are_named_and_examples_are_not() {
        for (text, kind) in [
            ("Uses ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6 by default.", Some("a GitHub token")),
            ("in postgres://admin:Sup3rS3cret@db.internal/prod.", Some("an address with a password")),
            ("-----BEGIN PRIVATE KEY-----", Some("a private key")),
            ("such as ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", None),
            ("such as ghp_0123456789abcdef", None),
            ("postgres://admin:password1@db/x and postgres://a:hunter22@localhost/x", None),
            ("-----BEGIN CERTIFICATE-----", None),
        ] {
            assert_eq!(find(text), kind, "{text}");
        }
    }
}
