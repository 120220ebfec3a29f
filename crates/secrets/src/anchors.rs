//! Anchors: the short texts near which a secret may stand. One automaton finds all of them in one pass, so that a text
//! without any is not looked at twice.

use crate::{
    names::{MAYBE, SECRET},
    shapes::SHAPES,
};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::sync::LazyLock;

/// What an anchor announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The prefix of a row of [`SHAPES`].
    Token(usize),
    /// A word of [`SECRET`].
    Name,
    /// A word of [`MAYBE`] with the character behind it, which is not part of the name.
    MaybeName,
    Bearer,
    Basic,
    /// `://`
    Address,
    /// `PRIVATE KEY` in the first or last line of a key.
    PrivateKey,
}

/// A name that may mean a secret counts only right before one of these.
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
    // The compact automaton: a tenth of the memory of the full table, which would only pay for long texts.
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(texts)
        .expect("a small, fixed set of patterns");
    (automaton, anchors)
});
