//! The member names of all open objects, for the detection of duplicates.

use super::stack::Stack;
use crate::{Defect, malformed::Flaw};
use std::borrow::Cow;

/// Up to this many members are compared pair by pair, which is faster than sorting them.
const PAIRWISE: usize = 12;

/// The position of a member name, without its quotes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Key {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) escaped: bool,
}

/// Number of names that are stored without an allocation, enough for most frames.
const USUAL_KEYS: usize = 16;

pub(super) struct Keys(Stack<Key, USUAL_KEYS>);

impl Keys {
    #[inline]
    pub(super) fn new() -> Self {
        Self(Stack::new())
    }

    #[inline]
    pub(super) fn mark(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(super) fn push(&mut self, key: Key) {
        self.0.push(key);
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> Key {
        self.0.as_slice()[at]
    }

    /// Checks and removes the names of an object that ends here. Its first key is at `first`.
    #[inline]
    pub(super) fn close(&mut self, first: usize, text: &[u8]) -> Result<(), Flaw> {
        let keys = &self.0.as_slice()[first..];
        if !differ_by_hash(keys, text) {
            differ(keys, text)?;
        }
        self.0.truncate(first);
        Ok(())
    }
}

/// True if a cheap hash (length, first and last byte) already proves that all names differ, as it
/// usually does.
#[inline]
fn differ_by_hash(keys: &[Key], text: &[u8]) -> bool {
    let (mut seen, mut doubtful) = (0_u64, false);
    for key in keys {
        let mark = 1 << (key.quick_hash(text) % u64::BITS as usize);
        doubtful |= seen & mark != 0 || key.escaped;
        seen |= mark;
    }
    !doubtful
}

/// Fails if two names are equal.
#[cold]
fn differ(keys: &[Key], text: &[u8]) -> Result<(), Flaw> {
    if keys.len() <= PAIRWISE && !keys.iter().any(|key| key.escaped) {
        let same =
            |(i, key): &(usize, &Key)| keys[..*i].iter().any(|other| key.bytes(text) == other.bytes(text));
        return match keys.iter().enumerate().find(same) {
            Some((_, key)) => Err(Flaw { defect: Defect::DuplicateKey, offset: key.start }),
            None => Ok(()),
        };
    }
    // Sorting needs less memory than a hash set: three words per name, even for a million names.
    let mut names = keys.iter().map(|key| key.name(text)).collect::<Result<Vec<_>, _>>()?;
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        let twice = keys.iter().rev().find(|key| key.name(text).is_ok_and(|name| name == pair[0]));
        return Err(Flaw { defect: Defect::DuplicateKey, offset: twice.map_or(0, |key| key.start) });
    }
    Ok(())
}

impl Key {
    /// A cheap hash of the written name. For an empty name it reads the quotes around it.
    #[inline]
    fn quick_hash(&self, text: &[u8]) -> usize {
        usize::from(text[self.start]) + 5 * usize::from(text[self.end - 1]) + 11 * (self.end - self.start)
    }

    fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start..self.end]
    }

    fn name<'a>(&self, text: &'a [u8]) -> Result<Cow<'a, [u8]>, Flaw> {
        if !self.escaped {
            return Ok(Cow::Borrowed(self.bytes(text)));
        }
        let half = Defect::Json("half a surrogate pair in a member name");
        unescape(self.bytes(text))
            .map(|name| Cow::Owned(name.into_bytes()))
            .ok_or(Flaw { defect: half, offset: self.start })
    }
}

/// The decoded name; `None` for half of a surrogate pair, which is not a character.
pub(crate) fn unescape(name: &[u8]) -> Option<String> {
    let mut quoted = Vec::with_capacity(name.len() + 2);
    quoted.push(b'"');
    quoted.extend_from_slice(name);
    quoted.push(b'"');
    serde_json::from_slice(&quoted).ok()
}
