//! Sealed text: what we hand to a client to bring back, and would notice if it were changed.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    hmac,
    rand::{SecureRandom, SystemRandom},
};

/// How a sealed text begins.
const FORM: &str = "tl1.";
/// Characters that tell one process's sealed texts from another's.
const INSTANCE: usize = 8;

/// A key that lives as long as the process; what it sealed is of no use to another one.
pub(super) struct Seal {
    key: hmac::Key,
    /// Marks a text as one of ours: behind us there may be another of our kind, whose texts are not ours to read.
    mark: String,
}

impl Seal {
    pub(super) fn new() -> Self {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new());
        let key = key.expect("the system has random numbers, or nothing here is safe");
        Self { key, mark: format!("{FORM}{}.", &unguessable()[..INSTANCE]) }
    }

    pub(super) fn is_ours(&self, text: &str) -> bool {
        text.starts_with(&self.mark)
    }

    /// `name`, sealed for whoever `bound` describes.
    pub(super) fn close(&self, name: &str, bound: &[u8]) -> String {
        let tag = hmac::sign(&self.key, &message(name, bound));
        format!("{}{name}.{}", self.mark, URL_SAFE_NO_PAD.encode(tag))
    }

    /// The name in a sealed text, if it was sealed here for the same `bound`.
    pub(super) fn open<'a>(&self, text: &'a str, bound: &[u8]) -> Option<&'a str> {
        let (name, tag) = text.strip_prefix(self.mark.as_str())?.split_once('.')?;
        let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
        hmac::verify(&self.key, &message(name, bound), &tag).ok()?;
        Some(name)
    }
}

/// The name's length stands before it, so that no other name and bound make the same message.
fn message(name: &str, bound: &[u8]) -> Vec<u8> {
    [&(name.len() as u64).to_le_bytes()[..], name.as_bytes(), bound].concat()
}

/// A name nobody can guess.
pub(crate) fn unguessable() -> String {
    let mut bytes = [0; 24];
    SystemRandom::new().fill(&mut bytes).expect("the system has random numbers, or nothing here is safe");
    URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_or_is_meant_for_another_does_not_open() {
        let seal = Seal::new();
        let text = seal.close("abc", b"alice");
        assert_eq!(seal.open(&text, b"alice"), Some("abc"));
        assert_eq!(seal.open(&text, b"bob"), None);
        assert!(seal.is_ours(&text) && !Seal::new().is_ours(&text));
        assert_eq!(Seal::new().open(&text, b"alice"), None);
        for place in seal.mark.len()..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            // The last character of the tag has bits that stand for nothing.
            if place < text.len() - 1 {
                assert_eq!(seal.open(&changed, b"alice"), None, "{changed}");
            }
        }
        assert_ne!(unguessable(), unguessable());
    }
}
