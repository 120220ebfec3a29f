//! SHA-256 of file content, as the hexadecimal text that `expected_hash` takes.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

pub(super) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}
