//! A rate limit per key.
//!
//! It uses the generic cell rate algorithm (GCRA): for each key only the theoretical arrival time
//! is stored, the time at which all its calls are paid for. Keys are stored as keyed 64-bit
//! hashes, so that their length does not matter. Time in which the process is suspended counts.

use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState},
    num::NonZeroU32,
    time::Duration,
};
use tokio::time::Instant;

/// Number of tables with separate locks, to reduce contention. A power of two.
const SHARDS: usize = 16;

/// Default maximum number of keys.
const DEFAULT_KEYS: usize = 64 * 1024;

/// A number of calls per period, in any distribution over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    pub limit: NonZeroU32,
    pub period: Duration,
    /// Maximum number of calls at once after an idle period; usually at most `limit`.
    pub burst: NonZeroU32,
}

/// A quota, and the usage of each key.
#[derive(Debug)]
pub struct RateLimiter {
    /// The cost of one call, in nanoseconds.
    cost: u64,
    /// Nanoseconds by which a key may be ahead of the clock and still call.
    tolerance: u64,
    keys_per_shard: usize,
    origin: Instant,
    hasher: RandomState,
    shards: [Mutex<ArrivalTimes>; SHARDS],
}

/// Theoretical arrival times by hash of the key, in nanoseconds after `origin`.
type ArrivalTimes = HashMap<u64, u64, BuildHasherDefault<IdentityHasher>>;

/// A hasher for keys that are already hashes.
#[derive(Debug, Default)]
struct IdentityHasher(u64);

/// The part of a quota that is left to one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Calls at once after an idle period.
    pub limit: u32,
    /// Calls that would be accepted now.
    pub remaining: u32,
    /// Time until all of `limit` is available again.
    pub reset: Duration,
}

/// The quota is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many calls; retry in {retry_after:?}")]
pub struct TooSoon {
    pub retry_after: Duration,
}

impl Quota {
    /// `limit` calls per `period`, which may all come at once.
    pub fn new(limit: NonZeroU32, period: Duration) -> Self {
        Self { limit, period, burst: limit }
    }
}

impl RateLimiter {
    pub fn new(quota: Quota) -> Self {
        Self::with_keys(quota, DEFAULT_KEYS)
    }

    /// Stores at most about `keys` keys. If there are more, those with the least usage are
    /// evicted.
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

    /// Counts one call of `key`; refuses it, without counting, if it comes too soon.
    pub fn check(&self, key: &(impl Hash + ?Sized)) -> Result<(), TooSoon> {
        self.check_at(key, Instant::now())
    }

    /// Like `check`, for a call that came at `now`.
    pub fn check_at(&self, key: &(impl Hash + ?Sized), now: Instant) -> Result<(), TooSoon> {
        self.with(key, now, |arrival, now| {
            self.check_arrival(*arrival, now)?;
            *arrival = arrival.saturating_add(self.cost);
            Ok(())
        })
    }

    /// Checks if `key` may call now, without counting.
    pub fn peek(&self, key: &(impl Hash + ?Sized)) -> Result<(), TooSoon> {
        let hash = self.hasher.hash_one(key);
        let arrival = self.shard(hash).get(&hash).copied();
        arrival.map_or(Ok(()), |arrival| self.check_arrival(arrival, self.nanos(Instant::now())))
    }

    /// The part of the quota that is left to `key`.
    pub fn usage(&self, key: &(impl Hash + ?Sized)) -> Usage {
        let hash = self.hasher.hash_one(key);
        let now = self.nanos(Instant::now());
        let ahead = self.shard(hash).get(&hash).map_or(0, |arrival| arrival.saturating_sub(now));
        let left = |nanos: u64| u32::try_from(nanos / self.cost).unwrap_or(u32::MAX);
        let whole = self.tolerance.saturating_add(self.cost);
        Usage {
            limit: left(whole),
            remaining: left(whole.saturating_sub(ahead)),
            reset: Duration::from_nanos(ahead),
        }
    }

    /// Counts one call of `key`, even if it comes too soon.
    pub fn charge(&self, key: &(impl Hash + ?Sized)) {
        self.with(key, Instant::now(), |arrival, _| *arrival = arrival.saturating_add(self.cost));
    }

    /// Number of stored keys.
    pub fn keys(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    /// Calls `work` with the theoretical arrival time of a key, which is at least `now`.
    fn with<T>(&self, key: &(impl Hash + ?Sized), now: Instant, work: impl FnOnce(&mut u64, u64) -> T) -> T {
        let (hash, now) = (self.hasher.hash_one(key), self.nanos(now));
        let mut arrivals = self.shard(hash);
        if let Some(arrival) = arrivals.get_mut(&hash) {
            *arrival = now.max(*arrival);
            return work(arrival, now);
        }
        if arrivals.len() >= self.keys_per_shard {
            evict(&mut arrivals, now);
        }
        work(arrivals.entry(hash).or_insert(now), now)
    }

    fn check_arrival(&self, arrival: u64, now: u64) -> Result<(), TooSoon> {
        match arrival.saturating_sub(now).saturating_sub(self.tolerance) {
            0 => Ok(()),
            early => Err(TooSoon { retry_after: Duration::from_nanos(early) }),
        }
    }

    fn shard(&self, hash: u64) -> MutexGuard<'_, ArrivalTimes> {
        // Uses other bits than the hash table uses first.
        lock(&self.shards[usize::try_from(hash >> 32).unwrap_or(usize::MAX) % SHARDS])
    }

    fn nanos(&self, now: Instant) -> u64 {
        u64::try_from(now.duration_since(self.origin).as_nanos()).unwrap_or(u64::MAX)
    }
}

fn lock(shard: &Mutex<ArrivalTimes>) -> MutexGuard<'_, ArrivalTimes> {
    shard.lock()
}

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only `u64` keys are hashed with this. Others would work too, but be distributed badly.
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Evicts all idle keys or, if there are none, the quarter with the least usage, so that a full
/// table is searched rarely.
fn evict(arrivals: &mut ArrivalTimes, now: u64) {
    let before = arrivals.len();
    arrivals.retain(|_, arrival| *arrival > now);
    if arrivals.len() < before {
        return;
    }
    let mut by_arrival: Vec<(u64, u64)> = arrivals.iter().map(|(key, arrival)| (*arrival, *key)).collect();
    let quarter = by_arrival.len() / 4;
    by_arrival.select_nth_unstable(quarter);
    for (_, key) in &by_arrival[..=quarter] {
        arrivals.remove(key);
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
        let rate = RateLimiter::new(quota(4, 8));
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
        assert_eq!(
            (0..10).filter(|_| rate.check("ada").is_ok()).count(),
            4,
            "a long idle period does not accumulate more than the quota"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn the_rest_of_a_quota_is_known() {
        let rate = RateLimiter::new(quota(4, 8));
        let usage = |remaining, seconds| Usage { limit: 4, remaining, reset: Duration::from_secs(seconds) };
        assert_eq!(rate.usage("ada"), usage(4, 0));
        for used in 1..=4 {
            rate.check("ada").unwrap();
            assert_eq!(rate.usage("ada"), usage(4 - used, u64::from(used) * 2));
        }
        advance(Duration::from_secs(3)).await;
        assert_eq!(rate.usage("ada"), usage(1, 5));
        assert_eq!((rate.usage("bob"), rate.keys()), (usage(4, 0), 1));
    }

    #[tokio::test(start_paused = true)]
    async fn over_a_long_time_exactly_the_quota_passes() {
        let mut quota = quota(10, 1);
        quota.burst = 1.try_into().unwrap();
        let rate = RateLimiter::new(quota);
        let mut passed = 0;
        for _ in 0..10_000 {
            passed += usize::from(rate.check("ada").is_ok());
            advance(Duration::from_millis(10)).await;
        }
        assert_eq!(passed, 1000);
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_keys_neither_grows_the_table_nor_forgives_the_worst() {
        let rate = RateLimiter::with_keys(quota(3, 3600), 64);
        while rate.check("worst").is_ok() {}
        for n in 0..20_000 {
            rate.check(&n).unwrap();
        }
        let kept = rate.keys();
        assert!(kept <= 64, "{kept}");
        assert!(rate.check("worst").is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn keys_that_paid_are_forgotten_first() {
        let rate = RateLimiter::with_keys(quota(1, 1), 16 * 8);
        for n in 0..1000 {
            rate.check(&n).unwrap();
            advance(Duration::from_secs(2)).await;
        }
        let kept = rate.keys();
        assert!(kept <= 128, "{kept}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_counts_nothing_and_a_charge_counts_without_limit() {
        let rate = RateLimiter::new(quota(2, 4));
        for _ in 0..3 {
            rate.peek("ada").unwrap();
        }
        for _ in 0..5 {
            rate.charge("ada");
        }
        assert_eq!(rate.peek("ada"), Err(TooSoon { retry_after: Duration::from_secs(8) }));
        assert_eq!(rate.check("ada"), rate.peek("ada"));
        advance(Duration::from_secs(8)).await;
        rate.check("ada").unwrap();
        rate.peek("ada").unwrap_err();
    }

    #[test]
    fn many_threads_together_get_the_quota_and_no_more() {
        let rate = RateLimiter::new(quota(1000, 1_000_000));
        let passed: usize = std::thread::scope(|scope| {
            let one = || (0..1000).filter(|_| rate.check("ada").is_ok()).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(one)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(passed, 1000);
    }
}
