//! Core: what an upstream's tasks and calls share.

use super::{
    Connect, Event, Offer, Quarantined, Session,
    book::{Awake, Book},
    bulkhead::Bulkhead,
    latency::Latency,
    lists::Kept,
    live::Live,
    offer::Kind,
    options::{Start, UpstreamOptions},
    status::{Calls, ListStatus, millis},
};
use crate::limit::Rate;
use arc_swap::ArcSwapOption;
use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
    atomic::{AtomicU8, AtomicU64, Ordering},
};
use tokio::{
    sync::{Notify, broadcast, watch},
    time::Instant,
};
use trunkline_protocol::{Raw, Revision, ServerName};
use trunkline_resilience::{Breaker, BreakerOptions, Retry, RetryOptions};

/// Notifications kept for a listener that is slow.
const EVENT_QUEUE: usize = 1024;

pub(super) struct Core {
    pub(super) name: ServerName,
    pub(super) connect: Arc<dyn Connect>,
    pub(super) options: UpstreamOptions,
    pub(super) offer: ArcSwapOption<Offer>,
    /// The session of a server that lets everybody share it, found without a lock.
    pub(super) everyones: ArcSwapOption<Live>,
    /// Made when somebody listens: most servers have no listener, and the queue takes its room from the start.
    events: OnceLock<broadcast::Sender<Event>>,
    pub(super) versions: watch::Sender<u64>,
    pub(super) stop: watch::Sender<bool>,
    /// Wakes the supervisor when sessions came or went.
    pub(super) attention: Notify,
    /// Which lists the server said have changed, one bit each.
    pub(super) changed: AtomicU8,
    /// Which of them it said so of itself.
    pub(super) announced: AtomicU8,
    pub(super) change: Notify,
    pub(super) bulkhead: Bulkhead,
    pub(super) rate: Option<Rate>,
    pub(super) latency: Latency,
    pub(super) retry: Retry,
    pub(super) restart: Retry,
    pub(super) counts: Counts,
    origin: Instant,
    /// When a call last began or ended, in milliseconds after `origin`.
    busy: AtomicU64,
    book: Mutex<Book>,
    lists: Mutex<Lists>,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) total: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) refused: AtomicU64,
}

/// The lists as they were read, and from which session.
#[derive(Default)]
pub(super) struct Lists {
    pub(super) kept: [Kept; 4],
    pub(super) from: Weak<Live>,
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
            change: Notify::new(),
            bulkhead: Bulkhead::new(options.bulkhead),
            rate: options.rate.map(|quota| Rate::with_keys(quota, 1)),
            latency: Latency::new(),
            retry: repeats(options.retry),
            restart: repeats(options.restart.as_retry()),
            counts: Counts::default(),
            origin: Instant::now(),
            busy: AtomicU64::new(0),
            book: Mutex::new(Book::new(awake)),
            lists: Mutex::default(),
            name,
            connect,
            options,
        }
    }

    pub(super) fn events(&self) -> broadcast::Receiver<Event> {
        self.events.get_or_init(|| broadcast::Sender::new(EVENT_QUEUE)).subscribe()
    }

    pub(super) fn tell(&self, event: Event) {
        if let Some(events) = self.events.get() {
            // Nobody may be listening any more, which is no failure.
            drop(events.send(event));
        }
    }

    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lists(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something changed that watchers want to know.
    pub(super) fn bump(&self) {
        self.versions.send_modify(|version| *version += 1);
    }

    /// A breaker for a new session.
    pub(super) fn breaker(&self) -> Breaker {
        let name: Arc<str> = self.name.to_string().into();
        Breaker::new(name.clone(), self.options.breaker)
            .or_else(|_| Breaker::new(name, BreakerOptions::default()))
            .expect("the defaults are within bounds")
    }

    /// A call begins or ends.
    pub(super) fn touch(&self, now: Instant) {
        self.busy.fetch_max(millis(now.duration_since(self.origin)), Ordering::Relaxed);
    }

    /// When a call last began or ended.
    pub(super) fn last_busy(&self) -> Instant {
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

    /// Marks what is offered as that of a server which is away.
    pub(super) fn make_stale(&self) {
        if let Some(offer) = self.offer.load_full().filter(|offer| !offer.stale) {
            self.offer.store(Some(Arc::new(Offer { stale: true, ..(*offer).clone() })));
        }
    }

    /// How long to wait after so many failures.
    pub(super) fn pause_after(&self, failures: u32) -> std::time::Duration {
        self.restart.backoff(failures)
    }
}

impl Lists {
    pub(super) fn offer(&self, session: &dyn Session) -> Offer {
        self.as_offer(session.introduction(), session.revision())
    }

    fn as_offer(&self, introduction: Raw, revision: Revision) -> Offer {
        let [tools, prompts, resources, templates] =
            Kind::ALL.map(|kind| self.kept[kind as usize].items.clone());
        let beside = Kind::ALL.map(|kind| self.kept[kind as usize].beside.clone());
        let announced = Kind::ALL.map(|kind| self.kept[kind as usize].announced);
        Offer {
            introduction,
            revision,
            tools,
            prompts,
            resources,
            templates,
            beside,
            announced,
            stale: false,
        }
    }

    pub(super) fn status(&self, kind: Kind) -> ListStatus {
        let kept = &self.kept[kind as usize];
        ListStatus {
            kind,
            items: kept.items.len(),
            quarantined: kept.quarantined.len() + kept.unnamed,
            age_ms: kept.read_at.map(|at| millis(at.elapsed())),
            warning: kept.warning.clone(),
        }
    }

    pub(super) fn quarantined(&self) -> Vec<Quarantined> {
        self.kept.iter().flat_map(|kept| kept.quarantined.iter().cloned()).collect()
    }

    /// When the first list is no longer as the server promised.
    pub(super) fn expires(&self, least: std::time::Duration) -> Option<Instant> {
        let expiry = |kept: &Kept| kept.read_at?.checked_add(kept.ttl?.max(least));
        self.kept.iter().filter_map(expiry).min()
    }
}

fn repeats(options: RetryOptions) -> Retry {
    Retry::new(options)
        .or_else(|_| Retry::new(RetryOptions::default()))
        .expect("the defaults are within bounds")
}
