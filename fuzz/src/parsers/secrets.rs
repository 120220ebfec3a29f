//! Masking of secrets: a secret is masked in any surrounding text, without panics.

use trunkline_secrets::{Caution, Mask, SHAPES, find, is_secret, masked_address, name_class};

/// A value that the mask knows as secret.
const KNOWN: &str = "opaque-value-1";

pub fn holds(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for caution in [Caution::Readable, Caution::Strict] {
        let mask = Mask::new("***", caution).knowing([KNOWN]);
        let hidden = mask.hide(&text);
        assert!(!hidden.contains(KNOWN), "{text:?}");
        assert_eq!(mask.hide_part(&text, 0..text.len()), hidden);
        // The first byte selects a token, which is put before the text with a space between them.
        let token = SHAPES[usize::from(data.first().copied().unwrap_or_default()) % SHAPES.len()].positive;
        let hidden = mask.hide_part(&format!("{token} {text}"), 0..token.len());
        assert!(!hidden.contains(token), "{text:?}");
    }
    find(&text);
    masked_address(&text, "***");
    let (name, value) = text.split_once('=').unwrap_or((&text, ""));
    is_secret(name, value);
    name_class(name);
}
