//! The signed statement itself.

use super::key::{PublicKey, SigningKey};
use crate::audit::{
    clock::rfc3339,
    line::{Hash, Link, from_hex, hex},
};
use serde::{Deserialize, Serialize};
use std::time::SystemTime;

/// The last record on disk at some time, signed. As JSON it is one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedHead {
    /// The hash of the trail's first record, which tells trails apart.
    pub chain: String,
    /// Number and hash of the record.
    pub seq: u64,
    pub hash: String,
    /// The number of its segment.
    pub segment: u64,
    /// When it was signed.
    pub time: String,
    /// The public key.
    pub key: String,
    /// Over [`SignedHead::text`], as Base64.
    signature: String,
}

/// The reason why a head proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
pub enum NotSigned {
    #[error("it is signed by {0}, not by the expected key")]
    OtherKey(String),
    #[error("its signature is wrong")]
    BadSignature,
    #[error("it is not a signed head")]
    Unreadable,
}

impl SignedHead {
    pub(in crate::audit) fn sign(key: &SigningKey, chain: &Hash, link: &Link, segment: u64) -> Self {
        let mut head = Self {
            chain: hex(chain),
            seq: link.seq,
            hash: hex(&link.hash),
            segment,
            time: rfc3339(SystemTime::now()),
            key: key.public().to_string(),
            signature: String::new(),
        };
        head.signature = key.sign(&head.text());
        head
    }

    /// Reads a head and checks its signature.
    pub fn read(text: &str, key: &PublicKey) -> Result<Self, NotSigned> {
        let head: Self = serde_json::from_str(text).map_err(|_| NotSigned::Unreadable)?;
        if head.key != key.to_string() {
            return Err(NotSigned::OtherKey(head.key));
        }
        if !key.has_signed(&head.text(), &head.signature) {
            return Err(NotSigned::BadSignature);
        }
        // Only our own program signs, so the hash is one.
        if from_hex(&head.hash).is_none() { Err(NotSigned::Unreadable) } else { Ok(head) }
    }

    /// The record that it names.
    pub(in crate::audit) fn link(&self) -> Option<Link> {
        Some(Link { seq: self.seq, hash: from_hex(&self.hash)? })
    }

    /// The text that is signed. It begins with its purpose, so that no other signature of the key
    /// can be taken for a head.
    fn text(&self) -> String {
        let Self { chain, seq, hash, segment, time, key, signature: _ } = self;
        format!("trunkline audit head v1\n{chain}\n{seq}\n{hash}\n{segment}\n{time}\n{key}\n")
    }
}
