//! Seal: a MAC over several fields.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{hmac, rand::SystemRandom};

#[derive(Debug)]
pub(super) struct Seal(hmac::Key);

impl Seal {
    /// With a random key, which lives as long as the process.
    pub(super) fn new() -> Self {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new());
        Self(key.expect("the system's random number generator works"))
    }

    pub(super) fn with_key(secret: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// The MAC of the fields.
    pub(super) fn tag(&self, fields: &[&[u8]]) -> String {
        URL_SAFE_NO_PAD.encode(hmac::sign(&self.0, &message(fields)))
    }

    /// True if `tag` is the MAC of the fields.
    pub(super) fn fits(&self, fields: &[&[u8]], tag: &str) -> bool {
        let tag = URL_SAFE_NO_PAD.decode(tag);
        tag.is_ok_and(|tag| hmac::verify(&self.0, &message(fields), &tag).is_ok())
    }
}

/// Each field is prefixed with its length, so that no other fields give the same message.
fn message(fields: &[&[u8]]) -> Vec<u8> {
    fields.iter().flat_map(|field| [&(field.len() as u64).to_le_bytes()[..], field].concat()).collect()
}
