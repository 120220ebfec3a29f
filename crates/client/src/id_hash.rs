//! A quick hash for tables whose keys are ids that we made ourselves, so that nobody can choose them to collide.

use std::hash::{BuildHasherDefault, Hasher};

/// Builds the hash of such a table.
pub(crate) type OurIds = BuildHasherDefault<IdHasher>;

/// Multiplies and folds, eight bytes at a time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IdHasher(u64);

/// Odd, with its bits spread evenly: 2⁶⁴ divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl IdHasher {
    fn add(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(SPREAD);
        let [low, high] = [product & u128::from(u64::MAX), product >> 64];
        self.0 = u64::try_from(low ^ high).unwrap_or_default();
    }
}

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.add(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add(u64::from_le_bytes(last));
    }

    fn write_usize(&mut self, length: usize) {
        self.add(length as u64);
    }

    fn finish(&self) -> u64 {
        // Tables look at the upper bits, too.
        self.0.wrapping_mul(SPREAD) ^ self.0.rotate_left(32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::HashSet, hash::BuildHasher};
    use trunkline_protocol::RequestId;

    #[test]
    fn ids_in_sequence_fall_apart() {
        let hashes: Vec<u64> =
            (0..10_000).map(|n| OurIds::default().hash_one(RequestId::number(n))).collect();
        let whole: HashSet<u64> = hashes.iter().copied().collect();
        assert_eq!(whole.len(), hashes.len());
        let lower: HashSet<u64> = hashes.iter().map(|hash| hash & 0xffff).collect();
        let upper: HashSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
        assert!(lower.len() > 8_500, "{} of 10,000 in 65,536 buckets", lower.len());
        assert_eq!(upper.len(), 128);
    }

    #[test]
    fn an_id_and_its_beginning_differ() {
        let hash = |text: &str| OurIds::default().hash_one(RequestId::text(text));
        assert_ne!(hash("a"), hash("aa"));
        assert_ne!(hash("1234567"), hash("12345678"));
    }
}
