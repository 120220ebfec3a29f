//! Cursors: the next page of a list. A cursor is valid only for the unchanged list that it came
//! from.

use crate::{policy::Standing, upstream::Kind};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    digest::{Context, SHA256},
    hmac,
    rand::SystemRandom,
};

/// The bytes of a cursor: a page and a seal.
const PAGE_BYTES: usize = 4;
const CURSOR_BYTES: usize = PAGE_BYTES + 32;

/// Seals and opens cursors with a key that lives as long as the process.
#[derive(Debug)]
pub(crate) struct Cursors(hmac::Key);

/// Identifies the list that a cursor belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bound(Vec<u8>);

impl Bound {
    pub(super) fn new(view: &str, kind: Kind, standing: &Standing, digest: &[u8]) -> Self {
        let mut context = Context::new(&SHA256);
        let mut add = |part: &[u8]| {
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part);
        };
        add(view.as_bytes());
        add(&[kind as u8]);
        add(digest);
        standing.parts().for_each(add);
        Self(context.finish().as_ref().to_vec())
    }
}

impl Cursors {
    pub(crate) fn new() -> Self {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new());
        Self(key.expect("the system's random number generator works"))
    }

    pub(super) fn seal(&self, bound: &Bound, page: usize) -> String {
        let page = u32::try_from(page).unwrap_or(u32::MAX).to_le_bytes();
        let tag = hmac::sign(&self.0, &[&page, bound.0.as_slice()].concat());
        URL_SAFE_NO_PAD.encode([&page, tag.as_ref()].concat())
    }

    pub(super) fn open(&self, bound: &Bound, cursor: &str) -> Option<usize> {
        if cursor.len() > CURSOR_BYTES * 2 {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok().filter(|bytes| bytes.len() == CURSOR_BYTES)?;
        let (page, tag) = bytes.split_at(PAGE_BYTES);
        hmac::verify(&self.0, &[page, bound.0.as_slice()].concat(), tag).ok()?;
        usize::try_from(u32::from_le_bytes(page.try_into().ok()?)).ok()
    }
}
