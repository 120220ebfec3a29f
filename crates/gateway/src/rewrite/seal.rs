//! Seal: binds a text to a caller with a MAC. The key lives as long as the process.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{hmac, rand::SystemRandom};

#[derive(Debug)]
pub(super) struct Seal(hmac::Key);

impl Seal {
    pub(super) fn new() -> Self {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new());
        Self(key.expect("the system's random number generator works"))
    }

    /// The MAC of caller and text.
    pub(super) fn tag(&self, caller: &str, text: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(hmac::sign(&self.0, &message(caller, text)))
    }

    /// True if `tag` is the MAC of caller and text.
    pub(super) fn fits(&self, caller: &str, text: &[u8], tag: &str) -> bool {
        let tag = URL_SAFE_NO_PAD.decode(tag);
        tag.is_ok_and(|tag| hmac::verify(&self.0, &message(caller, text), &tag).is_ok())
    }
}

/// Prefixed with the caller's length, so that no other pair of caller and text gives the same
/// message.
fn message(caller: &str, text: &[u8]) -> Vec<u8> {
    [&(caller.len() as u64).to_le_bytes()[..], caller.as_bytes(), text].concat()
}
