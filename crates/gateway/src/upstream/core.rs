//! Core: the state that an upstream's tasks and calls share.

use super::{
    Event, Offer, Quarantined,
    bulkhead::Bulkhead,
    latency::Latency,
    lists::ReadList,
    live_session::LiveSession,
    offer::Kind,
    options::{Start, UpstreamOptions},
    session_pool::{Awake, SessionPool},
    status::{Calls, ListStatus, millis},
};
use arc_swap::ArcSwapOption;
use parking_lot::{Mutex, MutexGuard};
use std::sync::{
    Arc, OnceLock, Weak,
    atomic::{AtomicU8, AtomicU64, Ordering},
};
use tokio::{
    sync::{Notify, broadcast, watch},
    time::Instant,
};
use trunkline_protocol::{Connect, ServerName, Session};
use trunkline_resilience::{Breaker, BreakerOptions, Moment, RateLimiter, Retry, RetryOptions};

/// Notifications kept for a listener that is slow.
const EVENT_QUEUE: usize = 1024;

pub(super) struct Core {
    pub(super) name: ServerName,
    pub(super) connect: Arc<dyn Connect>,
    pub(super) options: UpstreamOptions,
    pub(super) offer: ArcSwapOption<Offer>,
    /// The session that all callers share, if the server allows that; read without a lock.
    pub(super) everyones: ArcSwapOption<LiveSession>,
    /// Made for the first listener: the queue allocates all its slots at once, and most servers
    /// have none.
    events: OnceLock<broadcast::Sender<Event>>,
    pub(super) versions: watch::Sender<u64>,
    pub(super) stop: watch::Sender<bool>,
    /// Wakes the supervisor when sessions came or went.
    pub(super) attention: Notify,
    /// Bitmask of the lists that must be read again.
    pub(super) changed: AtomicU8,
    /// Bitmask of the lists that the server announced as changed.
    pub(super) announced: AtomicU8,
    /// Bitmask of the lists that were announced as changed and not read since. Unlike `announced`,
    /// a bit stays set until the reading has ended well.
    pub(super) unread: AtomicU8,
    pub(super) change: Notify,
    pub(super) bulkhead: Arc<Bulkhead>,
    /// Shared by all sessions.
    pub(super) breaker: Breaker,
    pub(super) rate: Option<Arc<RateLimiter>>,
    pub(super) latency: Latency,
    pub(super) retry: Retry,
    pub(super) restart: Retry,
    pub(super) counts: Counts,
    origin: Moment,
    /// When a call last began or ended, in milliseconds after `origin`.
    busy: AtomicU64,
    pool: Mutex<SessionPool>,
    lists: Mutex<Lists>,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) total: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) refused: AtomicU64,
}

/// The lists as last read, and the session they were read from.
#[derive(Default)]
pub(super) struct Lists {
    pub(super) kept: [ReadList; 4],
    pub(super) from: Weak<LiveSession>,
}

impl Core {
    pub(super) fn new(name: ServerName, connect: Arc<dyn Connect>, options: UpstreamOptions) -> Self {
        let awake = match options.start {
            Start::AtOnce => Awake::Yes,
            Start::WhenNeeded => Awake::No,
        };
        Self {
            offer: ArcSwapOption::empty(),
            everyones: ArcSwapOption::empty(),
            events: OnceLock::new(),
            versions: watch::Sender::new(0),
            stop: watch::Sender::new(false),
            attention: Notify::new(),
            changed: AtomicU8::new(0),
            announced: AtomicU8::new(0),
            unread: AtomicU8::new(0),
            change: Notify::new(),
            bulkhead: Arc::new(Bulkhead::new(options.bulkhead)),
            breaker: breaker(&name, options.breaker),
            rate: options.rate.map(|quota| Arc::new(RateLimiter::with_keys(quota, 1))),
            latency: Latency::new(),
            retry: repeats(options.retry),
            restart: repeats(options.restart.as_retry()),
            counts: Counts::default(),
            origin: Moment::now(),
            busy: AtomicU64::new(0),
            pool: Mutex::new(SessionPool::new(awake)),
            lists: Mutex::default(),
            name,
            connect,
            options,
        }
    }

    /// The core of another identity of the same server, with the server's limits.
    pub(super) fn sibling(&self, connect: Arc<dyn Connect>) -> Self {
        let mut core = Self::new(self.name.clone(), connect, self.options.clone());
        core.bulkhead = Arc::clone(&self.bulkhead);
        core.rate.clone_from(&self.rate);
        core
    }

    pub(super) fn events(&self) -> broadcast::Receiver<Event> {
        self.events.get_or_init(|| broadcast::Sender::new(EVENT_QUEUE)).subscribe()
    }

    pub(super) fn tell(&self, event: Event) {
        if let Some(events) = self.events.get() {
            // An error means that the last listener is gone.
            drop(events.send(event));
        }
    }

    pub(super) fn pool(&self) -> MutexGuard<'_, SessionPool> {
        self.pool.lock()
    }

    pub(super) fn lists(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock()
    }

    /// Wakes all watchers of the offer and the state.
    pub(super) fn bump(&self) {
        self.versions.send_modify(|version| *version += 1);
    }

    /// Notes that a call began or ended.
    pub(super) fn touch(&self, now: Moment) {
        self.busy.fetch_max(millis(now - self.origin), Ordering::Relaxed);
    }

    /// When a call last began or ended.
    pub(super) fn last_busy(&self) -> Moment {
        self.origin + std::time::Duration::from_millis(self.busy.load(Ordering::Relaxed))
    }

    pub(super) fn calls(&self) -> Calls {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Calls {
            in_flight: self.bulkhead.running(),
            waiting: self.bulkhead.waiting(),
            total: count(&self.counts.total),
            failed: count(&self.counts.failed),
            refused: count(&self.counts.refused),
        }
    }

    /// Marks the offer as stale: its server is not connected.
    pub(super) fn make_stale(&self) {
        if let Some(offer) = self.offer.load_full().filter(|offer| !offer.stale) {
            self.offer.store(Some(Arc::new(Offer { stale: true, ..(*offer).clone() })));
        }
    }

    /// The backoff after this many failures in a row.
    pub(super) fn pause_after(&self, failures: u32) -> std::time::Duration {
        self.restart.backoff(failures)
    }
}

impl Lists {
    pub(super) fn offer(&self, session: &dyn Session) -> Offer {
        let [tools, prompts, resources, templates] =
            Kind::ALL.map(|kind| self.kept[kind as usize].items.clone());
        let beside = Kind::ALL.map(|kind| self.kept[kind as usize].beside.clone());
        let announced = Kind::ALL.map(|kind| self.kept[kind as usize].announced);
        let faults = Kind::ALL.map(|kind| self.kept[kind as usize].fault.clone());
        Offer {
            introduction: session.introduction(),
            revision: session.revision(),
            tools,
            prompts,
            resources,
            templates,
            beside,
            announced,
            faults,
            stale: false,
            signs_in: session.sign_in_tool().is_some(),
            own_tools: session.own_tools(),
        }
    }

    /// The status of a list. If it was not read in this run, its items are those of the offer.
    pub(super) fn status(&self, kind: Kind, offer: Option<&Offer>) -> ListStatus {
        let kept = &self.kept[kind as usize];
        let read = kept.read_at.map(|_| kept.items.len());
        ListStatus {
            kind,
            items: read.or_else(|| offer.map(|offer| offer.list(kind).len())),
            quarantined: kept.quarantined.len() + kept.unnamed,
            age_ms: kept.read_at.map(|at| millis(at.elapsed())),
            warning: kept.warning.clone(),
        }
    }

    pub(super) fn quarantined(&self) -> Vec<Quarantined> {
        self.kept.iter().flat_map(|kept| kept.quarantined.iter().cloned()).collect()
    }

    /// When the first list expires by the server's TTL.
    pub(super) fn expires(&self, least: std::time::Duration) -> Option<Instant> {
        let expiry = |kept: &ReadList| kept.read_at?.checked_add(kept.ttl?.max(least));
        self.kept.iter().filter_map(expiry).min()
    }
}

fn breaker(name: &ServerName, options: BreakerOptions) -> Breaker {
    let name: Arc<str> = name.to_string().into();
    Breaker::new(name.clone(), options)
        .or_else(|_| Breaker::new(name, BreakerOptions::default()))
        .expect("the defaults are within bounds")
}

fn repeats(options: RetryOptions) -> Retry {
    Retry::new(options)
        .or_else(|_| Retry::new(RetryOptions::default()))
        .expect("the defaults are within bounds")
}
