//! One line of the trail, and its link in the hash chain.

use super::members::decimal;
use ring::digest;

/// The hash of a record.
pub(super) type Hash = [u8; digest::SHA256_OUTPUT_LEN];

const SEQ: &str = "{\"seq\":";
const HASH: &str = ",\"hash\":\"";
const END: &str = "\"}";

/// The two hexadecimal digits of each byte.
const HEX_PAIRS: [[u8; 2]; 256] = {
    let (digits, mut pairs, mut byte) = (b"0123456789abcdef", [[0; 2]; 256], 0);
    while byte < 256 {
        pairs[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    pairs
};

/// Most bytes of a line in addition to its members.
const OVERHEAD: usize = 128;

/// The last record of a chain so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) seq: u64,
    pub(super) hash: Hash,
}

/// A parsed line. Its hash and its position in the chain are not checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) seq: u64,
    /// The hash as written in the line.
    pub(super) hash: Hash,
    /// The part of the line that is hashed.
    text: &'a [u8],
    /// The members after `seq`, without the hash.
    pub(super) members: &'a str,
}

impl Link {
    /// The predecessor of the first record.
    pub(super) const GENESIS: Self = Self { seq: 0, hash: [0; 32] };

    /// Appends the next line, with its newline, to `out`; `self` becomes the link of that line.
    pub(super) fn append(&mut self, members: &str, out: &mut Vec<u8>) {
        let start = out.len();
        self.seq += 1;
        out.reserve(members.len() + OVERHEAD);
        out.extend_from_slice(SEQ.as_bytes());
        out.extend_from_slice(decimal(self.seq, &mut [0; 20]));
        out.push(b',');
        out.extend_from_slice(members.as_bytes());
        self.hash = hash(&self.hash, &out[start..]);
        out.extend_from_slice(HASH.as_bytes());
        out.extend_from_slice(&hex_digits(&self.hash));
        out.extend_from_slice(END.as_bytes());
        out.push(b'\n');
    }
}

impl<'a> Line<'a> {
    /// Parses a line without its newline; `None` if it is no record.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        let (text, tail) = line.split_at_checked(line.len().checked_sub(HASH.len() + 64 + END.len())?)?;
        let hash = from_hex(tail.strip_prefix(HASH)?.strip_suffix(END)?)?;
        let (seq, members) = text.strip_prefix(SEQ)?.split_once(',')?;
        if seq.starts_with(['0', '+']) {
            return None;
        }
        Some(Self { seq: seq.parse().ok()?, hash, text: text.as_bytes(), members })
    }

    pub(super) fn follows(&self, before: &Hash) -> bool {
        hash(before, self.text) == self.hash
    }

    pub(super) fn link(&self) -> Link {
        Link { seq: self.seq, hash: self.hash }
    }

    /// The kind of record, which is its first member.
    pub(super) fn kind(&self) -> Option<&'a str> {
        self.members.strip_prefix("\"kind\":\"")?.split('"').next()
    }
}

fn hash(before: &Hash, text: &[u8]) -> Hash {
    let mut context = digest::Context::new(&digest::SHA256);
    context.update(before);
    context.update(text);
    context.finish().as_ref().try_into().expect("SHA-256 has 32 bytes")
}

pub(super) fn hex(hash: &Hash) -> String {
    hex_digits(hash).map(char::from).iter().collect()
}

fn hex_digits(hash: &Hash) -> [u8; 64] {
    let mut text = [0; 64];
    for (place, byte) in hash.iter().enumerate() {
        let [high, low] = HEX_PAIRS[usize::from(*byte)];
        text[2 * place] = high;
        text[2 * place + 1] = low;
    }
    text
}

pub(super) fn from_hex(text: &str) -> Option<Hash> {
    if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
        return None;
    }
    let mut hash = [0; 32];
    for (i, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).ok()?;
    }
    Some(hash)
}
