//! The bytes that the store keeps for the executions of one caller, and of all callers.
//!
//! A caller keeps at most as many bytes as are left of those for all callers. So one caller that
//! keeps as much as it can leaves half of them, and any number of such callers leave something.
//!
//! They are counted in windows of time, because the store removes expired data by itself and tells
//! nobody. Nothing is kept for longer than a span, so the windows of the last span together have at
//! least as many bytes as are kept.

use super::record::now;
use futures_util::future::{try_join, try_join_all};
use parking_lot::Mutex;
use std::{collections::HashMap, sync::Arc, time::Duration};
use tracing::warn;
use trunkline_protocol::{Fault, FaultKind};
use trunkline_store::{Store, StoreError};

/// Windows of a span. More of them forget expired data sooner.
const WINDOWS: u64 = 4;
/// Bytes that each execution counts at least, for its record and a short result. So the number of
/// executions that are kept is bounded, too.
pub(super) const LEAST: usize = 4 << 10;
/// Most callers whose earlier windows are remembered.
const MAX_REMEMBERED: usize = 4096;

/// The owner under which the bytes of all callers are counted. Owners are hexadecimal digits.
const ALL: &str = "all";

/// Most bytes of one caller, and of all callers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) caller: u64,
    pub(super) total: u64,
}

pub(super) struct Quota {
    store: Arc<dyn Store>,
    bounds: Bounds,
    window: Duration,
    /// The sum of the earlier windows per owner, and the window in which it was read.
    earlier: Mutex<HashMap<String, (u64, i64)>>,
}

/// The caller would have more bytes than it may keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{reached}")]
pub(crate) struct OverQuota {
    reached: Reached,
    /// Seconds until some bytes are no longer counted.
    retry_after: u64,
}

/// The limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Reached {
    #[error("the executions that are kept for you have all of your {0} bytes (limits.executionBytes)")]
    Caller(u64),
    #[error("the executions of all callers leave no room for more of yours (limits.executionBytesTotal)")]
    Total,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum NotCounted {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Over(#[from] OverQuota),
}

impl Quota {
    /// `span` is the longest time that anything is kept.
    pub(super) fn new(store: Arc<dyn Store>, bounds: Bounds, span: Duration) -> Self {
        let window = (span / u32::try_from(WINDOWS).unwrap_or(1)).max(Duration::from_millis(1));
        Self { store, bounds, window, earlier: Mutex::default() }
    }

    /// Counts bytes for an owner, and returns the window of the count. Counts nothing if that would
    /// be too many.
    pub(super) async fn count(&self, owner: &str, bytes: usize) -> Result<u64, NotCounted> {
        let length = u64::try_from(self.window.as_millis()).unwrap_or(u64::MAX);
        let time = now();
        let (at, into) = (time / length, time % length);
        let by = i64::try_from(bytes).unwrap_or(i64::MAX);
        let (own, all) = try_join(self.sum(owner, at, by), self.sum(ALL, at, by)).await?;
        let Some(reached) = self.bounds.reached(own, all) else { return Ok(at) };
        self.uncount(owner, at, by).await?;
        let retry_after = (length - into).div_ceil(1000);
        Err(OverQuota { reached, retry_after }.into())
    }

    /// Takes back what was counted for an owner in a window.
    async fn uncount(&self, owner: &str, window: u64, by: i64) -> Result<(), StoreError> {
        try_join(self.add(owner, window, -by), self.add(ALL, window, -by)).await.map(drop)
    }

    /// Adds to the newest window of an owner, and returns the sum of all windows.
    async fn sum(&self, owner: &str, at: u64, by: i64) -> Result<u64, StoreError> {
        let earlier = self.earlier(owner, at).await?;
        let newest = self.add(owner, at, by).await?;
        Ok(u64::try_from(earlier.saturating_add(newest)).unwrap_or_default())
    }

    /// The sum of the windows before this one. Nobody adds to them any more.
    async fn earlier(&self, owner: &str, at: u64) -> Result<i64, StoreError> {
        if let Some((_, sum)) = self.earlier.lock().get(owner).filter(|(read, _)| *read == at) {
            return Ok(*sum);
        }
        let before = (1..=WINDOWS).filter_map(|back| at.checked_sub(back));
        let counts = try_join_all(before.map(|window| self.add(owner, window, 0))).await?;
        let sum = counts.iter().sum();
        let mut remembered = self.earlier.lock();
        if remembered.len() >= MAX_REMEMBERED {
            remembered.clear();
        }
        remembered.insert(owner.to_owned(), (at, sum));
        Ok(sum)
    }

    async fn add(&self, owner: &str, window: u64, by: i64) -> Result<i64, StoreError> {
        let lifetime = self.window * u32::try_from(2 * WINDOWS).unwrap_or(1);
        self.store.add(&format!("execution-bytes/{owner}/{window}"), by, lifetime).await
    }
}

impl Bounds {
    /// The limit that is exceeded if a caller has `own` of the bytes that all callers have.
    fn reached(self, own: u64, all: u64) -> Option<Reached> {
        if own > self.caller {
            return Some(Reached::Caller(self.caller));
        }
        (own > self.total.saturating_sub(all)).then_some(Reached::Total)
    }
}

/// Bytes that were counted for one execution and are not used yet.
pub(super) struct Allowance {
    quota: Arc<Quota>,
    owner: String,
    left: usize,
    /// The window that has the first bytes.
    window: u64,
}

impl Allowance {
    /// Counts the least number of bytes of an execution. Half of them are for its record.
    pub(super) async fn new(quota: &Arc<Quota>, owner: String) -> Result<Self, NotCounted> {
        let window = quota.count(&owner, LEAST).await?;
        Ok(Self { quota: quota.clone(), owner, left: LEAST / 2, window })
    }

    /// Gives the first bytes back, for an execution that is not kept.
    pub(super) async fn give_back(self) {
        let by = i64::try_from(LEAST).unwrap_or_default();
        if let Err(error) = self.quota.uncount(&self.owner, self.window, by).await {
            warn!(%error, "bytes of an execution that is not kept stay counted");
        }
    }

    /// Takes bytes; counts more of them if too few are left.
    pub(super) async fn take(&mut self, bytes: usize) -> Result<(), NotCounted> {
        if bytes > self.left {
            let more = (bytes - self.left).max(LEAST);
            self.quota.count(&self.owner, more).await?;
            self.left += more;
        }
        self.left -= bytes;
        Ok(())
    }

    /// Takes bytes; false if the caller has too many. Bytes that a failing store cannot count are
    /// taken: its failure is not the caller's.
    pub(super) async fn covers(&mut self, bytes: usize) -> bool {
        let taken = self.take(bytes).await;
        if let Err(error) = &taken {
            warn!(%error, "bytes of an execution are not counted");
        }
        !matches!(taken, Err(NotCounted::Over(_)))
    }
}

impl OverQuota {
    /// The refusal of something that was not done.
    pub(super) fn refusal(self) -> Fault {
        let text = format!("{self}; they are kept for limits.executionRetention");
        Fault::new(FaultKind::RateLimited, text)
            .with_data(serde_json::json!({"retryAfter": self.retry_after}).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_store::{Lazy, Place};

    fn bounds(caller: u64) -> Bounds {
        Bounds { caller, total: 1 << 30 }
    }

    #[tokio::test]
    async fn l07_bytes_are_counted_per_owner_up_to_the_limit() {
        let store: Arc<dyn Store> = Arc::new(Lazy::new(Place::Memory));
        let quota = Arc::new(Quota::new(store.clone(), bounds(95_000), Duration::from_hours(4)));
        let mut allowance = Allowance::new(&quota, "ada".to_owned()).await.unwrap();
        allowance.take(80_000).await.unwrap();
        assert!(matches!(allowance.take(40_000).await, Err(NotCounted::Over(_))));
        allowance.take(10_000).await.unwrap();
        assert!(matches!(Allowance::new(&quota, "ada".to_owned()).await, Err(NotCounted::Over(_))));
        assert!(Allowance::new(&quota, "eve".to_owned()).await.is_ok());
        // Another process with the same store knows what was counted.
        let other = Arc::new(Quota::new(store, bounds(95_000), Duration::from_hours(4)));
        let refused = Allowance::new(&other, "ada".to_owned()).await.err();
        let Some(NotCounted::Over(over)) = refused else { panic!("{refused:?}") };
        assert!((1..=3600).contains(&over.retry_after), "{over:?}");
    }

    #[tokio::test]
    async fn l07_bytes_of_the_windows_before_count_until_the_span_has_passed() {
        let store: Arc<dyn Store> = Arc::new(Lazy::new(Place::Memory));
        let quota = Quota::new(store, bounds(100), Duration::from_hours(4));
        let at = now() / 3_600_000;
        for (back, counts) in [(1, true), (4, true), (5, false)] {
            let owner = format!("owner-{back}");
            quota.add(&owner, at - back, 90).await.unwrap();
            assert_eq!(quota.count(&owner, 20).await.is_err(), counts, "{back} windows ago");
        }
    }

    #[tokio::test]
    async fn l07_callers_that_keep_all_they_can_leave_room_for_others() {
        let store: Arc<dyn Store> = Arc::new(Lazy::new(Place::Memory));
        let total = 1000 * LEAST as u64;
        let bounds = Bounds { caller: total, total };
        let quota = Quota::new(store, bounds, Duration::from_hours(4));
        let mut kept = Vec::new();
        for hog in 0..20 {
            let owner = format!("{hog}");
            let mut own = 0;
            while quota.count(&owner, LEAST).await.is_ok() {
                own += 1;
            }
            kept.push(own);
        }
        let refused = quota.count("0", 1).await;
        assert!(matches!(refused, Err(NotCounted::Over(over)) if over.reached == Reached::Total));
        assert!(kept[0] == 500 && kept[1] == 250, "{kept:?}");
        assert!(kept.iter().sum::<u64>() < 1000 && quota.count("late", 1).await.is_ok(), "{kept:?}");
    }

    #[tokio::test]
    async fn l07_what_is_given_back_counts_neither_for_its_caller_nor_for_all() {
        let store: Arc<dyn Store> = Arc::new(Lazy::new(Place::Memory));
        let bounds = Bounds { caller: 1 << 20, total: 2 * LEAST as u64 };
        let quota = Arc::new(Quota::new(store, bounds, Duration::from_hours(4)));
        for _ in 0..10 {
            Allowance::new(&quota, "ada".to_owned()).await.unwrap().give_back().await;
        }
        Allowance::new(&quota, "eve".to_owned()).await.unwrap();
        assert!(Allowance::new(&quota, "ada".to_owned()).await.is_err());
    }
}
