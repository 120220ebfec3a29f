//! Keeps the lists of a server (tools, prompts, resources, templates) for as long as they may be believed.
//!
//! How long that is, the server says where its revision has a hint (`ttlMs`), otherwise the cache's own time counts
//! ([`Freshness`]). A notification that a list changed ends it at once ([`ListCache::invalidate`]), also for a fetch that
//! is under way: those who were waiting get its result, but it is not kept, and whoever asks later fetches anew.
//!
//! Many callers who need the same list share one fetch, a *flight*. The first one flies; if it is cancelled, one of those
//! who wait takes over with its own fetch. A failure is shared with those who waited for it, but never kept.
//!
//! The cache tells no users apart. Lists that differ by user (`Scope::Private`) need the user in the key.

mod counts;
mod entry;
mod index;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    hash::Hash,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Duration,
};

use tokio::{sync::OnceCell, time::Instant};

use crate::resilience::{OutOfRange, within};
use counts::Counters;
use entry::Entry;

pub use counts::CacheCounts;
pub use entry::{Fetched, Freshness, Listed, Scope, Source};
pub use index::NameIndex;

/// The settings of a [`ListCache`]; they are checked by [`ListCache::new`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheOptions {
    /// How long a list without a hint is fresh, at most 24 h; zero keeps nothing fresh.
    pub ttl: Duration,
    pub stale: Stale,
    /// How many lists are kept, 1 to 10000. Beyond that, the one that goes stale first makes room.
    pub entries: usize,
}

/// Whether a list past its time may stand in when a new one cannot be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stale {
    #[default]
    Never,
    /// For so long after its time, at most 24 h. A list known to have changed never stands in.
    OnError { for_up_to: Duration },
}

/// The lists a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListKey {
    Tools,
    Prompts,
    Resources,
    ResourceTemplates,
}

/// Lists by key. `E` is what a fetch fails with; it is cloned for each caller that waited for that fetch.
pub struct ListCache<T, E, K = ListKey> {
    options: CacheOptions,
    slots: RwLock<HashMap<K, Slot<T, E>>>,
    counters: Counters,
}

struct Slot<T, E> {
    entry: Option<Entry<T>>,
    /// The fetch whose result belongs here. Another one, from before an invalidation, finds itself replaced.
    flight: Option<Arc<Flight<T, E>>>,
}

/// A fetch that callers share; the cell sees to it that one of them makes it, and another one if that is cancelled.
type Flight<T, E> = OnceCell<Result<Listed<T>, E>>;

/// No list is believed for longer, whatever its server says.
const LONGEST_TTL: Duration = Duration::from_hours(24);
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

    /// The list if it is fresh, else the result of `fetch`, or of the fetch which another caller has under way.
    ///
    /// A caller's own time limit belongs around this function, where it ends the caller's wait, not into `fetch`, where
    /// it would fail all who wait with it. `fetch` must not ask for the same key.
    pub async fn get_or_fetch<F, Fut>(&self, key: &K, fetch: F) -> Result<Listed<T>, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<Fetched<T>, E>>,
    {
        if let Some(listed) = self.get(key) {
            return Ok(listed);
        }
        let flight = match self.board(key) {
            Boarding::Fresh(listed) => return Ok(listed),
            Boarding::Flight(flight) => flight,
        };
        let fly = || async {
            Counters::count(&self.counters.fetches);
            let outcome = fetch().await;
            self.land(key, &flight, outcome)
        };
        flight.get_or_init(fly).await.clone()
    }

    /// The list if it is there and fresh.
    pub fn get(&self, key: &K) -> Option<Listed<T>> {
        let listed = self.read().get(key)?.fresh(Instant::now())?;
        Counters::count(&self.counters.hits);
        Some(listed)
    }

    /// The list has changed: forgets it, and what a fetch under way will bring.
    pub fn invalidate(&self, key: &K) {
        self.write().remove(key);
    }

    /// Forgets every list whose key matches, such as all pages or all users' copies of one.
    pub fn invalidate_where(&self, matches: impl Fn(&K) -> bool) {
        self.write().retain(|key, _| !matches(key));
    }

    /// Forgets everything, as when the connection is new.
    pub fn invalidate_all(&self) {
        self.write().clear();
    }

    /// How many lists are kept or being fetched.
    pub fn len(&self) -> usize {
        self.read().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn counts(&self) -> CacheCounts {
        self.counters.read()
    }

    /// Joins the flight for `key`, or announces one.
    fn board(&self, key: &K) -> Boarding<T, E> {
        let now = Instant::now();
        let mut slots = self.write();
        if let Some(slot) = slots.get_mut(key) {
            // Another caller may have landed since this one looked.
            if let Some(listed) = slot.fresh(now) {
                Counters::count(&self.counters.hits);
                return Boarding::Fresh(listed);
            }
            return Boarding::Flight(Arc::clone(slot.flight.get_or_insert_default()));
        }
        if slots.len() >= self.options.entries {
            make_room(&mut slots);
        }
        let flight = Arc::<Flight<T, E>>::default();
        slots.insert(key.clone(), Slot { entry: None, flight: Some(Arc::clone(&flight)) });
        Boarding::Flight(flight)
    }

    /// Keeps what a flight brought, if it is still the one its slot waits for, and says what its callers get.
    fn land(
        &self,
        key: &K,
        flight: &Arc<Flight<T, E>>,
        outcome: Result<Fetched<T>, E>,
    ) -> Result<Listed<T>, E> {
        let now = Instant::now();
        let outcome = outcome.map(|fetched| Entry::new(fetched, self.options.ttl, now));
        let mut slots = self.write();
        let slot = slots.get_mut(key).filter(|slot| slot.awaits(flight));
        let error = match (outcome, slot) {
            (Ok(entry), Some(slot)) => {
                let listed = entry.listed(Source::Fetched);
                *slot = Slot { entry: Some(entry), flight: None };
                return Ok(listed);
            }
            (Ok(entry), None) => {
                Counters::count(&self.counters.outrun);
                return Ok(entry.listed(Source::Fetched));
            }
            (Err(error), None) => error,
            (Err(error), Some(slot)) => {
                slot.flight = None;
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

enum Boarding<T, E> {
    Fresh(Listed<T>),
    Flight(Arc<Flight<T, E>>),
}

/// Drops the list that goes stale first, if possible one that nobody fetches just now.
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

    /// Whether a caller is on its flight. One that all callers left, cancelled, waits for the next to ask.
    fn is_awaited(&self) -> bool {
        self.flight.as_ref().is_some_and(|flight| Arc::strong_count(flight) > 1)
    }

    fn awaits(&self, flight: &Arc<Flight<T, E>>) -> bool {
        self.flight.as_ref().is_some_and(|awaited| Arc::ptr_eq(awaited, flight))
    }
}

impl<T, E, K> ListCache<T, E, K> {
    fn read(&self) -> RwLockReadGuard<'_, HashMap<K, Slot<T, E>>> {
        self.slots.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<K, Slot<T, E>>> {
        self.slots.write().unwrap_or_else(PoisonError::into_inner)
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
