//! Live: one open session, who uses it, and how it does.

use super::{
    connect::{Profile, Session},
    gone::{Gone, Seat},
};
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};
use tokio::time::Instant;
use trunkline_protocol::Fault;
use trunkline_resilience::Breaker;

/// The mark of a session that takes no more calls, beside the count of those under way.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// Whose session it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// The gateway's own: for lists, and for everybody where the server lets everybody share.
    Common,
    Of(Profile),
}

pub(super) struct Live {
    pub(super) session: Arc<dyn Session>,
    pub(super) breaker: Breaker,
    pub(super) opened: Instant,
    /// The only principal that may hear what the session says unasked; empty while it is everybody's.
    pub(super) principal: Arc<OnceLock<Arc<str>>>,
    /// Whether a caller's call was answered.
    pub(super) served: AtomicBool,
    /// Whether somebody is asking for a sign of life.
    pub(super) doubted: AtomicBool,
    users: AtomicUsize,
    /// When the last user left, in milliseconds after `opened`.
    left: AtomicU64,
    gone: Gone,
}

/// A call's hold on a session; it is not closed as idle meanwhile.
pub(super) struct Held {
    live: Arc<Live>,
    seat: Seat,
    /// When the call ended, where that is known.
    left: Option<Instant>,
}

impl Live {
    pub(super) fn new(session: Arc<dyn Session>, breaker: Breaker) -> Self {
        Self {
            session,
            breaker,
            opened: Instant::now(),
            principal: Arc::default(),
            served: AtomicBool::new(false),
            doubted: AtomicBool::new(false),
            users: AtomicUsize::new(0),
            left: AtomicU64::new(0),
            gone: Gone::default(),
        }
    }

    /// Takes hold of the session, unless it is closed or gone.
    pub(super) fn hold(self: &Arc<Self>) -> Option<Held> {
        let enter = |users: usize| (users & CLOSED == 0).then(|| users + 1);
        self.users.fetch_update(Ordering::AcqRel, Ordering::Acquire, enter).ok()?;
        Some(Held { live: self.clone(), seat: Seat::default(), left: None })
    }

    /// Closes the session to new calls if nobody uses it.
    pub(super) fn close_if_unused(&self) -> bool {
        self.users.compare_exchange(0, CLOSED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The session is no more; whoever waits for an answer hears why.
    pub(super) fn end(&self, why: Fault) {
        self.users.fetch_or(CLOSED, Ordering::AcqRel);
        self.gone.tell(why);
    }

    /// Closes a session that was taken out of the book; nobody waits for it.
    pub(super) fn bury(self: Arc<Self>, why: Fault) {
        self.end(why);
        tokio::spawn(async move { self.session.close().await });
    }

    pub(super) fn is_closed(&self) -> bool {
        self.users.load(Ordering::Acquire) & CLOSED != 0
    }

    pub(super) fn users(&self) -> usize {
        self.users.load(Ordering::Acquire) & !CLOSED
    }

    /// When the session was last in use.
    pub(super) fn last_used(&self) -> Instant {
        self.opened + std::time::Duration::from_millis(self.left.load(Ordering::Relaxed))
    }

    /// Waits until the session is no more.
    pub(super) async fn gone(&self) -> Fault {
        self.gone.wait().await
    }
}

impl Held {
    pub(super) fn live(&self) -> &Arc<Live> {
        &self.live
    }

    /// Why the session is gone, as soon as it is.
    pub(super) fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Fault> {
        self.live.gone.poll(&mut self.seat, cx)
    }

    /// Spares a look at the clock when this is dropped.
    pub(super) fn left_at(&mut self, now: Instant) {
        self.left = Some(now);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let live = &self.live;
        live.gone.leave(&mut self.seat);
        let left = self.left.unwrap_or_else(Instant::now);
        let millis = u64::try_from(left.duration_since(live.opened).as_millis()).unwrap_or(u64::MAX);
        live.left.fetch_max(millis, Ordering::Relaxed);
        live.users.fetch_sub(1, Ordering::AcqRel);
    }
}
