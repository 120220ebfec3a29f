//! Caches the lists of a server (tools, prompts, resources, templates) while they are fresh.
//!
//! The TTL is the server's `ttlMs` if its revision has that hint, otherwise the cache's default
//! ([`Freshness`]). A list-changed notification evicts the list at once
//! ([`ListCache::invalidate`]), even during a fetch: the callers that wait for that fetch get its
//! result, but it is not cached, and later lookups fetch again.
//!
//! Concurrent callers of the same list share one fetch. The first caller runs it; if that caller
//! is cancelled, one of the waiting callers takes over with its own fetch. A failure is shared
//! with the callers that waited for it, but never cached.
//!
//! The cache does not know users. Lists that differ by user (`Scope::Private`) need the user in
//! the key.

mod counts;
mod entry;
mod index;
#[cfg(test)]
mod tests;

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::{collections::HashMap, fmt, future::Future, hash::Hash, sync::Arc, time::Duration};

use tokio::{sync::OnceCell, time::Instant};

use crate::resilience::{OutOfRange, within};
use counts::Counters;
use entry::Entry;

pub use counts::CacheCounts;
pub use entry::{Fetched, Freshness, Listed, Scope, Source};
pub use index::NameIndex;

/// The settings of a [`ListCache`]; [`ListCache::new`] validates them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheOptions {
    /// TTL of a list without a hint, at most 24 h; with zero it is stale immediately.
    pub ttl: Duration,
    pub stale: Stale,
    /// Maximum number of lists, 1 to 10000. When full, the one that goes stale first is evicted.
    pub entries: usize,
}

/// Use of an expired list when a new one cannot be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stale {
    #[default]
    Never,
    /// Return it for this long after its expiry, at most 24 h. A list that is known to have
    /// changed is never returned.
    OnError { for_up_to: Duration },
}

/// The kinds of lists that a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListKey {
    Tools,
    Prompts,
    Resources,
    ResourceTemplates,
}

/// Lists by key. `E` is the error of a fetch; each caller that waited for the fetch gets a clone.
pub struct ListCache<T, E, K = ListKey> {
    options: CacheOptions,
    slots: RwLock<HashMap<K, Slot<T, E>>>,
    counters: Counters,
}

struct Slot<T, E> {
    entry: Option<Entry<T>>,
    /// The fetch whose result belongs here. A fetch from before an invalidation is no longer
    /// stored here, so its result is not cached.
    shared_fetch: Option<Arc<SharedFetch<T, E>>>,
}

/// A fetch that callers share. The cell lets one caller run it, and another if that one is
/// cancelled.
type SharedFetch<T, E> = OnceCell<Result<Listed<T>, E>>;

/// Longest TTL, whatever the server says.
pub const LONGEST_TTL: Duration = Duration::from_hours(24);
const MOST_ENTRIES: usize = 10_000;

impl<T, E, K> ListCache<T, E, K>
where
    E: Clone,
    K: Eq + Hash + Clone,
{
    pub fn new(options: CacheOptions) -> Result<Self, OutOfRange> {
        let options = options.checked()?;
        Ok(Self { options, slots: RwLock::default(), counters: Counters::default() })
    }

    /// Returns the list if it is fresh, else the result of `fetch`, or of the fetch that another
    /// caller already runs.
    ///
    /// Put a caller's timeout around this function, where it ends only that caller's wait. Inside
    /// `fetch` it would fail every caller that waits. `fetch` must not look up the same key.
    pub async fn get_or_fetch<F, Fut>(&self, key: &K, fetch: F) -> Result<Listed<T>, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<Fetched<T>, E>>,
    {
        if let Some(listed) = self.get(key) {
            return Ok(listed);
        }
        let shared_fetch = match self.join_fetch(key) {
            Joined::Fresh(listed) => return Ok(listed),
            Joined::Fetching(shared_fetch) => shared_fetch,
        };
        let run = || async {
            Counters::count(&self.counters.fetches);
            let outcome = fetch().await;
            self.finish_fetch(key, &shared_fetch, outcome)
        };
        shared_fetch.get_or_init(run).await.clone()
    }

    /// Returns the list if it is cached and fresh.
    pub fn get(&self, key: &K) -> Option<Listed<T>> {
        let listed = self.read().get(key)?.fresh(Instant::now())?;
        Counters::count(&self.counters.hits);
        Some(listed)
    }

    /// Evicts a list that changed; the result of a fetch in flight will not be cached either.
    pub fn invalidate(&self, key: &K) {
        self.write().remove(key);
    }

    /// Evicts every list whose key matches, such as all pages or all users' copies of one.
    pub fn invalidate_where(&self, matches: impl Fn(&K) -> bool) {
        self.write().retain(|key, _| !matches(key));
    }

    /// Evicts all lists, for example after a reconnect.
    pub fn invalidate_all(&self) {
        self.write().clear();
    }

    /// Number of lists that are cached or being fetched.
    pub fn len(&self) -> usize {
        self.read().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn counts(&self) -> CacheCounts {
        self.counters.read()
    }

    /// Joins the fetch of `key`, or registers a new one.
    fn join_fetch(&self, key: &K) -> Joined<T, E> {
        let now = Instant::now();
        let mut slots = self.write();
        if let Some(slot) = slots.get_mut(key) {
            // Another caller may have completed its fetch since this one looked.
            if let Some(listed) = slot.fresh(now) {
                Counters::count(&self.counters.hits);
                return Joined::Fresh(listed);
            }
            return Joined::Fetching(Arc::clone(slot.shared_fetch.get_or_insert_default()));
        }
        if slots.len() >= self.options.entries {
            make_room(&mut slots);
        }
        let shared_fetch = Arc::<SharedFetch<T, E>>::default();
        slots.insert(key.clone(), Slot { entry: None, shared_fetch: Some(Arc::clone(&shared_fetch)) });
        Joined::Fetching(shared_fetch)
    }

    /// Caches the result if this fetch is still the one stored in the slot, and returns the result
    /// for the waiting callers.
    fn finish_fetch(
        &self,
        key: &K,
        shared_fetch: &Arc<SharedFetch<T, E>>,
        outcome: Result<Fetched<T>, E>,
    ) -> Result<Listed<T>, E> {
        let now = Instant::now();
        let outcome = outcome.map(|fetched| Entry::new(fetched, self.options.ttl, now));
        let mut slots = self.write();
        let slot = slots.get_mut(key).filter(|slot| slot.runs(shared_fetch));
        let error = match (outcome, slot) {
            (Ok(entry), Some(slot)) => {
                let listed = entry.listed(Source::Fetched);
                *slot = Slot { entry: Some(entry), shared_fetch: None };
                return Ok(listed);
            }
            (Ok(entry), None) => {
                Counters::count(&self.counters.invalidated);
                return Ok(entry.listed(Source::Fetched));
            }
            (Err(error), None) => error,
            (Err(error), Some(slot)) => {
                slot.shared_fetch = None;
                if let Some(entry) = slot.entry.as_ref().filter(|entry| entry.usable(self.options.stale, now))
                {
                    Counters::count(&self.counters.failures);
                    Counters::count(&self.counters.stale);
                    return Ok(entry.listed(Source::Stale));
                }
                slots.remove(key);
                error
            }
        };
        Counters::count(&self.counters.failures);
        Err(error)
    }
}

enum Joined<T, E> {
    Fresh(Listed<T>),
    Fetching(Arc<SharedFetch<T, E>>),
}

/// Evicts the list that goes stale first, preferring lists without a fetch in flight.
fn make_room<T, E, K: Eq + Hash + Clone>(slots: &mut HashMap<K, Slot<T, E>>) {
    let rank = |slot: &Slot<T, E>| (slot.is_awaited(), slot.entry.as_ref().map(Entry::fresh_until));
    let victim = slots.iter().min_by_key(|(_, slot)| rank(slot)).map(|(key, _)| key.clone());
    if let Some(key) = victim {
        slots.remove(&key);
    }
}

impl<T, E> Slot<T, E> {
    fn fresh(&self, now: Instant) -> Option<Listed<T>> {
        let entry = self.entry.as_ref().filter(|entry| now < entry.fresh_until())?;
        Some(entry.listed(Source::Cached))
    }

    /// True if a caller waits for its fetch. A fetch whose callers were all cancelled stays here
    /// until the next lookup.
    fn is_awaited(&self) -> bool {
        self.shared_fetch.as_ref().is_some_and(|shared_fetch| Arc::strong_count(shared_fetch) > 1)
    }

    fn runs(&self, shared_fetch: &Arc<SharedFetch<T, E>>) -> bool {
        self.shared_fetch.as_ref().is_some_and(|current| Arc::ptr_eq(current, shared_fetch))
    }
}

impl<T, E, K> ListCache<T, E, K> {
    fn read(&self) -> RwLockReadGuard<'_, HashMap<K, Slot<T, E>>> {
        self.slots.read()
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<K, Slot<T, E>>> {
        self.slots.write()
    }
}

impl<T, E, K> fmt::Debug for ListCache<T, E, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListCache")
            .field("options", &self.options)
            .field("entries", &self.read().len())
            .field("counts", &self.counters.read())
            .finish_non_exhaustive()
    }
}

impl CacheOptions {
    fn checked(self) -> Result<Self, OutOfRange> {
        within("cache time", self.ttl, Duration::ZERO..=LONGEST_TTL)?;
        within("cache entries", self.entries, 1..=MOST_ENTRIES)?;
        if let Stale::OnError { for_up_to } = self.stale {
            within("cache stale time", for_up_to, Duration::ZERO..=LONGEST_TTL)?;
        }
        Ok(self)
    }
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self { ttl: Duration::from_mins(5), stale: Stale::Never, entries: 256 }
    }
}
