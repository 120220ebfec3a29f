//! What a cache did so far, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// How often what happened since the cache was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Answered from the cache.
    pub hits: u64,
    /// Fetches begun.
    pub fetches: u64,
    /// Fetches that failed, a stale list standing in or not.
    pub failures: u64,
    /// Fetches whose list a stale one stood in for.
    pub stale: u64,
    /// Lists fetched but not kept, since they had changed meanwhile.
    pub outrun: u64,
}

#[derive(Default)]
pub(super) struct Counters {
    pub(super) hits: AtomicU64,
    pub(super) fetches: AtomicU64,
    pub(super) failures: AtomicU64,
    pub(super) stale: AtomicU64,
    pub(super) outrun: AtomicU64,
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
            outrun: self.outrun.load(Ordering::Relaxed),
        }
    }
}
