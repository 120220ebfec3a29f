//! Random jitter for pauses: a `SplitMix64` sequence, cheap and lock-free. Not cryptographically
//! secure.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

#[derive(Debug)]
pub(super) struct SplitMix64 {
    state: AtomicU64,
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix64 {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: AtomicU64::new(seed) }
    }

    /// A random duration between zero and `most`, both included.
    pub(super) fn up_to(&self, most: Duration) -> Duration {
        // Scaling 64 random bits with a 128-bit product is uniform enough for pauses of about 2^40
        // nanoseconds.
        let span = u128::from(u64::try_from(most.as_nanos()).unwrap_or(u64::MAX)) + 1;
        let scaled = (u128::from(self.next_u64()) * span) >> u64::BITS;
        Duration::from_nanos(
            u64::try_from(scaled).expect("a 64-bit number times at most 2^64, shifted by 64"),
        )
    }

    fn next_u64(&self) -> u64 {
        let state = self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::SplitMix64;

    #[test]
    fn follows_the_published_sequence() {
        let rng = SplitMix64::new(1_234_567);
        let rolls: Vec<_> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(rolls, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn stays_within_and_covers_the_span() {
        let rng = SplitMix64::new(7);
        let rolls: Vec<_> = (0..200).map(|_| rng.up_to(Duration::from_nanos(3)).as_nanos()).collect();
        for wanted in 0..=3 {
            assert!(rolls.contains(&wanted));
        }
        assert!(rolls.iter().all(|roll| *roll <= 3));
        assert_eq!(rng.up_to(Duration::ZERO), Duration::ZERO);
    }
}
