//! Signed text: a client sends it back later, and any change to it is detected.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    hmac,
    rand::{SecureRandom, SystemRandom},
};

/// Prefix of a signed text.
const FORM: &str = "tl1.";
/// Length of the random part that distinguishes the texts of different processes.
const INSTANCE: usize = 8;

/// A random HMAC key of this process. Other processes cannot verify its texts.
pub(super) struct Seal {
    key: hmac::Key,
    /// Prefix of this process's texts. An upstream may be another Trunkline, whose texts must pass
    /// through unchanged.
    mark: String,
}

impl Seal {
    pub(super) fn new() -> Self {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new());
        let key = key.expect("the system's random source works");
        Self { key, mark: format!("{FORM}{}.", &unguessable()[..INSTANCE]) }
    }

    pub(super) fn is_ours(&self, text: &str) -> bool {
        text.starts_with(&self.mark)
    }

    /// Signs `name` together with `bound`, which is not contained in the text.
    pub(super) fn close(&self, name: &str, bound: &[u8]) -> String {
        let tag = hmac::sign(&self.key, &message(name, bound));
        format!("{}{name}.{}", self.mark, URL_SAFE_NO_PAD.encode(tag))
    }

    /// The name in a text, if it was signed with this key and the same `bound`.
    pub(super) fn open<'a>(&self, text: &'a str, bound: &[u8]) -> Option<&'a str> {
        let (name, tag) = text.strip_prefix(self.mark.as_str())?.split_once('.')?;
        let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
        hmac::verify(&self.key, &message(name, bound), &tag).ok()?;
        Some(name)
    }
}

/// The length prefix makes the message unambiguous: no other pair gives the same bytes.
fn message(name: &str, bound: &[u8]) -> Vec<u8> {
    [&(name.len() as u64).to_le_bytes()[..], name.as_bytes(), bound].concat()
}

/// A random name of 192 bits.
pub(crate) fn unguessable() -> String {
    let mut bytes = [0; 24];
    SystemRandom::new().fill(&mut bytes).expect("the system's random source works");
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
        for index in seal.mark.len()..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[index] = if changed[index] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            // The last base64 character of the tag has unused bits, so changing it may have no
            // effect.
            if index < text.len() - 1 {
                assert_eq!(seal.open(&changed, b"alice"), None, "{changed}");
            }
        }
        assert_ne!(unguessable(), unguessable());
    }
}
