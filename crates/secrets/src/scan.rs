//! Finds the ranges of secrets in a text, in one pass over its anchors.
//!
//! Each anchor is judged by a bounded number of bytes around it. Only a secret that was found is
//! read to its end, and anchors within it are skipped, so the total time is linear in the text.

use crate::{
    address,
    anchors::{ANCHORS, Anchor},
    assignment, credentials,
    mask::Caution,
    names::NameClass,
    pem,
    shapes::SHAPES,
    token,
};
use std::ops::Range;

/// Appends the ranges of secrets.
pub(crate) fn find(text: &str, caution: Caution, found: &mut Vec<Range<usize>>) {
    let (automaton, anchors) = &*ANCHORS;
    let bytes = text.as_bytes();
    // The end of the last secret.
    let mut done = 0;
    for hit in automaton.find_overlapping_iter(text) {
        if hit.start() < done {
            continue;
        }
        let secret = match anchors[hit.pattern().as_usize()] {
            Anchor::Token(row) => token::at(bytes, &SHAPES[row], hit.start(), SHAPES[row].least),
            Anchor::Name => assignment::value(bytes, &hit.range(), NameClass::Secret, caution),
            Anchor::MaybeName => {
                assignment::value(bytes, &(hit.start()..hit.end() - 1), NameClass::Maybe, caution)
            }
            Anchor::Bearer => credentials::bearer(bytes, &hit.range(), caution),
            Anchor::Basic => credentials::basic(bytes, &hit.range()),
            Anchor::Address => address::hidden(bytes, hit.end()),
            Anchor::PrivateKey => pem::key(bytes, &hit.range(), done),
        };
        if let Some(secret) = secret {
            done = secret.end;
            found.push(secret);
        }
    }
}
