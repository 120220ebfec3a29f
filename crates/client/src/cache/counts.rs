//! Counters of a cache, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// Event counts since the cache was created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Lookups answered from the cache.
    pub hits: u64,
    /// Fetches started.
    pub fetches: u64,
    /// Failed fetches, including those answered with a stale list.
    pub failures: u64,
    /// Failed fetches that were answered with a stale list.
    pub stale: u64,
    /// Fetched lists that were not cached, because they were invalidated during the fetch.
    pub invalidated: u64,
}

#[derive(Default)]
pub(super) struct Counters {
    pub(super) hits: AtomicU64,
    pub(super) fetches: AtomicU64,
    pub(super) failures: AtomicU64,
    pub(super) stale: AtomicU64,
    pub(super) invalidated: AtomicU64,
}

impl Counters {
    pub(super) fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> CacheCounts {
        CacheCounts {
            hits: self.hits.load(Ordering::Relaxed),
            fetches: self.fetches.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            stale: self.stale.load(Ordering::Relaxed),
            invalidated: self.invalidated.load(Ordering::Relaxed),
        }
    }
}
