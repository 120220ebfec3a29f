//! Seal: marks a text as one that was given to a caller, with a key that lives as long as the process.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{hmac, rand::SystemRandom};

#[derive(Debug)]
pub(super) struct Seal(hmac::Key);

impl Seal {
    pub(super) fn new() -> Self {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new());
        Self(key.expect("the system has random numbers, or nothing here is safe"))
    }

    /// The mark of a text that is given to this caller.
    pub(super) fn tag(&self, caller: &str, said: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(hmac::sign(&self.0, &message(caller, said)))
    }

    /// Whether a text was given to this caller with this mark.
    pub(super) fn fits(&self, caller: &str, said: &[u8], tag: &str) -> bool {
        let tag = URL_SAFE_NO_PAD.decode(tag);
        tag.is_ok_and(|tag| hmac::verify(&self.0, &message(caller, said), &tag).is_ok())
    }
}

/// The caller's length stands before it, so that no other caller and text make the same message.
fn message(caller: &str, said: &[u8]) -> Vec<u8> {
    [&(caller.len() as u64).to_le_bytes()[..], caller.as_bytes(), said].concat()
}
