//! Anchors: short strings that indicate a secret nearby. One automaton finds all of them in one
//! pass, so text without anchors is scanned only once.

use crate::{
    names::{MAYBE, SECRET},
    shapes::SHAPES,
};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::sync::LazyLock;

/// The kind of secret that an anchor indicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The prefix of a row of [`SHAPES`].
    Token(usize),
    /// A word of [`SECRET`].
    Name,
    /// A word of [`MAYBE`] with the character after it, which is not part of the name.
    MaybeName,
    Bearer,
    Basic,
    /// `://`
    Address,
    /// `PRIVATE KEY` in the first or last line of a key.
    PrivateKey,
}

/// A word of [`MAYBE`] counts only directly before one of these.
const BEHIND_MAYBE: [&str; 4] = ["=", "\"", "'", "\\"];

pub(crate) static ANCHORS: LazyLock<(AhoCorasick, Vec<Anchor>)> = LazyLock::new(|| {
    let tokens = SHAPES.iter().enumerate().map(|(row, shape)| (shape.prefix.to_owned(), Anchor::Token(row)));
    let names = SECRET.iter().map(|word| ((*word).to_owned(), Anchor::Name));
    let maybe = MAYBE
        .iter()
        .flat_map(|word| BEHIND_MAYBE.iter().map(move |sign| (format!("{word}{sign}"), Anchor::MaybeName)));
    let others = [
        ("bearer ", Anchor::Bearer),
        ("basic ", Anchor::Basic),
        ("://", Anchor::Address),
        ("private key", Anchor::PrivateKey),
    ];
    let others = others.into_iter().map(|(text, anchor)| (text.to_owned(), anchor));
    let (texts, anchors): (Vec<String>, Vec<Anchor>) = tokens.chain(names).chain(maybe).chain(others).unzip();
    // The compact automaton takes a tenth of the memory of the full table, which is faster only
    // for long texts.
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(texts)
        .expect("a small, fixed set of patterns");
    (automaton, anchors)
});
