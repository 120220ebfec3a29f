//! Rate: a bound on how often something may happen per key.
//!
//! The generic cell rate algorithm: of each key only the moment is kept at which it will have paid for everything it
//! did. Keys are kept as keyed 64-bit hashes, so that a long name costs no more than a short one.

use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState},
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Tables that are locked one by one, so that calls rarely meet. A power of two.
const SHARDS: usize = 16;

/// Keys that are remembered, unless the caller says otherwise.
const DEFAULT_KEYS: usize = 64 * 1024;

/// So many per period, in any distribution over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    pub limit: NonZeroU32,
    pub period: Duration,
    /// How many may come at once after a pause; at most `limit` is usual.
    pub burst: NonZeroU32,
}

/// A quota, and what each key has used of it.
#[derive(Debug)]
pub struct Rate {
    /// What one call costs, in nanoseconds.
    cost: u64,
    /// How far ahead of the clock a key may be and still call.
    tolerance: u64,
    keys_per_shard: usize,
    origin: Instant,
    hasher: RandomState,
    shards: [Mutex<Paid>; SHARDS],
}

/// By the hash of a key, when it will have paid.
type Paid = HashMap<u64, u64, BuildHasherDefault<Hashed>>;

/// Takes what is a hash already.
#[derive(Debug, Default)]
struct Hashed(u64);

/// The quota is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many calls; the next one may come in {retry_after:?}")]
pub struct TooSoon {
    pub retry_after: Duration,
}

impl Quota {
    /// `limit` per `period`, all of them at once if need be.
    pub fn new(limit: NonZeroU32, period: Duration) -> Self {
        Self { limit, period, burst: limit }
    }
}

impl Rate {
    pub fn new(quota: Quota) -> Self {
        Self::with_keys(quota, DEFAULT_KEYS)
    }

    /// Remembers at most about `keys` keys. When there are more, those that owe least are forgotten.
    pub fn with_keys(quota: Quota, keys: usize) -> Self {
        let period = u64::try_from(quota.period.as_nanos()).unwrap_or(u64::MAX);
        let cost = (period / u64::from(quota.limit.get())).max(1);
        Self {
            cost,
            tolerance: cost.saturating_mul(u64::from(quota.burst.get() - 1)),
            keys_per_shard: keys.div_ceil(SHARDS).max(1),
            origin: Instant::now(),
            hasher: RandomState::new(),
            shards: Default::default(),
        }
    }

    /// Counts one call of `key`, unless it comes too soon.
    pub fn check(&self, key: &(impl Hash + ?Sized)) -> Result<(), TooSoon> {
        let hash = self.hasher.hash_one(key);
        let now = self.now();
        // Bits that the table itself does not look at first.
        let shard = usize::try_from(hash >> 32).unwrap_or(usize::MAX) % SHARDS;
        let mut paid_at = self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(paid_at) = paid_at.get_mut(&hash) {
            let paid = now.max(*paid_at);
            if paid - now > self.tolerance {
                return Err(TooSoon { retry_after: Duration::from_nanos(paid - now - self.tolerance) });
            }
            *paid_at = paid.saturating_add(self.cost);
            return Ok(());
        }
        if paid_at.len() >= self.keys_per_shard {
            make_room(&mut paid_at, now);
        }
        paid_at.insert(hash, now.saturating_add(self.cost));
        Ok(())
    }

    fn now(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Nothing but a `u64` is hashed with this; anything else would only be spread badly.
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Forgets every key that has paid, and otherwise the quarter that owes least, so that a full table is searched rarely.
fn make_room(paid_at: &mut Paid, now: u64) {
    let before = paid_at.len();
    paid_at.retain(|_, paid| *paid > now);
    if paid_at.len() < before {
        return;
    }
    let mut owed: Vec<(u64, u64)> = paid_at.iter().map(|(key, paid)| (*paid, *key)).collect();
    let quarter = owed.len() / 4;
    owed.select_nth_unstable(quarter);
    for (_, key) in &owed[..=quarter] {
        paid_at.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    fn quota(limit: u32, seconds: u64) -> Quota {
        Quota::new(limit.try_into().unwrap(), Duration::from_secs(seconds))
    }

    #[tokio::test(start_paused = true)]
    async fn the_whole_quota_may_be_used_at_once_and_comes_back_evenly() {
        let rate = Rate::new(quota(4, 8));
        for _ in 0..4 {
            rate.check("ada").unwrap();
        }
        assert_eq!(rate.check("ada"), Err(TooSoon { retry_after: Duration::from_secs(2) }));
        rate.check("bob").unwrap();
        advance(Duration::from_millis(1500)).await;
        assert_eq!(rate.check("ada"), Err(TooSoon { retry_after: Duration::from_millis(500) }));
        advance(Duration::from_millis(500)).await;
        rate.check("ada").unwrap();
        assert!(rate.check("ada").is_err(), "a refused call costs nothing, an allowed one does");
        advance(Duration::from_mins(1)).await;
        assert_eq!((0..10).filter(|_| rate.check("ada").is_ok()).count(), 4, "a long pause saves up no more");
    }

    #[tokio::test(start_paused = true)]
    async fn over_a_long_time_exactly_the_quota_passes() {
        let mut quota = quota(10, 1);
        quota.burst = 1.try_into().unwrap();
        let rate = Rate::new(quota);
        let mut passed = 0;
        for _ in 0..10_000 {
            passed += usize::from(rate.check("ada").is_ok());
            advance(Duration::from_millis(10)).await;
        }
        assert_eq!(passed, 1000);
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_keys_neither_grows_the_table_nor_forgives_the_worst() {
        let rate = Rate::with_keys(quota(3, 3600), 64);
        while rate.check("worst").is_ok() {}
        for n in 0..20_000 {
            rate.check(&n).unwrap();
        }
        let kept: usize = rate.shards.iter().map(|shard| shard.lock().unwrap().len()).sum();
        assert!(kept <= 64, "{kept}");
        assert!(rate.check("worst").is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn keys_that_paid_are_forgotten_first() {
        let rate = Rate::with_keys(quota(1, 1), 16 * 8);
        for n in 0..1000 {
            rate.check(&n).unwrap();
            advance(Duration::from_secs(2)).await;
        }
        let kept: usize = rate.shards.iter().map(|shard| shard.lock().unwrap().len()).sum();
        assert!(kept <= 128, "{kept}");
    }

    #[test]
    fn many_threads_together_get_the_quota_and_no_more() {
        let rate = Rate::new(quota(1000, 1_000_000));
        let passed: usize = std::thread::scope(|scope| {
            let one = || (0..1000).filter(|_| rate.check("ada").is_ok()).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(one)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(passed, 1000);
    }
}
