//! One open session of an upstream: its users, and its loss.

use parking_lot::{Mutex, MutexGuard};
use std::{
    fmt,
    future::poll_fn,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};
use trunkline_protocol::{Fault, Profile, Session};
use trunkline_resilience::Moment;

/// Top bit of `users`: the session is closed.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// The clients that a session is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum SessionKey {
    /// The gateway itself, for lists; and all clients, if the server lets them share a session.
    Common,
    Of(Profile),
}

pub(super) struct LiveSession {
    pub(super) session: Arc<dyn Session>,
    pub(super) opened: Moment,
    /// The only principal that may see notifications of this session; empty while all clients
    /// share it.
    pub(super) principal: Arc<OnceLock<Arc<str>>>,
    /// True once a caller's call was answered.
    pub(super) served: AtomicBool,
    /// Calls in a row that were not answered in time.
    pub(super) timeouts: AtomicU32,
    /// True while a liveness check runs.
    pub(super) being_checked: AtomicBool,
    /// Calls in flight, and the bit [`CLOSED`].
    users: AtomicUsize,
    /// When the last call ended, in milliseconds after `opened`.
    left: AtomicU64,
    loss: LossSignal,
}

/// Lease of a session for one call; while it exists, the session is not closed as idle.
pub(super) struct SessionLease {
    live: Arc<LiveSession>,
    waiter: Waiter,
    /// When the call ended, if that is known.
    left: Option<Moment>,
}

impl LiveSession {
    pub(super) fn new(session: Arc<dyn Session>) -> Self {
        Self {
            session,
            opened: Moment::now(),
            principal: Arc::default(),
            served: AtomicBool::new(false),
            timeouts: AtomicU32::new(0),
            being_checked: AtomicBool::new(false),
            users: AtomicUsize::new(0),
            left: AtomicU64::new(0),
            loss: LossSignal::default(),
        }
    }

    /// Leases the session, unless it is closed.
    pub(super) fn lease(self: &Arc<Self>) -> Option<SessionLease> {
        let enter = |users: usize| (users & CLOSED == 0).then(|| users + 1);
        self.users.fetch_update(Ordering::AcqRel, Ordering::Acquire, enter).ok()?;
        Some(SessionLease { live: self.clone(), waiter: Waiter::default(), left: None })
    }

    /// Closes the session to new calls if no call uses it.
    pub(super) fn close_if_unused(&self) -> bool {
        self.users.compare_exchange(0, CLOSED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Marks the session as lost; calls in flight get the reason.
    pub(super) fn end(&self, why: Fault) {
        self.users.fetch_or(CLOSED, Ordering::AcqRel);
        self.loss.set(why);
    }

    /// Closes a session that was removed from the pool.
    pub(super) fn close_in_background(self: Arc<Self>, why: Fault) {
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
    pub(super) fn last_used(&self) -> Moment {
        self.opened + std::time::Duration::from_millis(self.left.load(Ordering::Relaxed))
    }

    /// Waits until the session is lost.
    pub(super) async fn lost(&self) -> Fault {
        self.loss.wait().await
    }
}

impl SessionLease {
    pub(super) fn live(&self) -> &Arc<LiveSession> {
        &self.live
    }

    /// Resolves with the reason when the session is lost.
    pub(super) fn poll_lost(&mut self, cx: &mut Context<'_>) -> Poll<Fault> {
        self.live.loss.poll(&mut self.waiter, cx)
    }

    /// Sets the time of the call's end, so that the drop does not read the clock.
    pub(super) fn left_at(&mut self, now: Moment) {
        self.left = Some(now);
    }
}

impl Drop for SessionLease {
    fn drop(&mut self) {
        let live = &self.live;
        live.loss.leave(&mut self.waiter);
        let left = self.left.unwrap_or_else(Moment::now);
        let millis = u64::try_from((left - live.opened).as_millis()).unwrap_or(u64::MAX);
        live.left.fetch_max(millis, Ordering::Relaxed);
        live.users.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The reason of a session's loss, and the wakers of the calls that wait for it. Every call
/// registers once or twice, so registering costs no more than a lock.
#[derive(Default)]
struct LossSignal(Mutex<LossState>);

#[derive(Default)]
struct LossState {
    why: Option<Fault>,
    /// Free slots are `None`, and their indices are in `free`.
    waiting: Vec<Option<Waker>>,
    free: Vec<usize>,
}

/// A registration in a [`LossSignal`]: the index of its slot. It must be released with `leave`.
#[derive(Debug, Default)]
struct Waiter(Option<usize>);

/// A registration that is released on drop.
struct Registered<'a>(&'a LossSignal, Waiter);

impl LossSignal {
    /// Sets the reason, unless one is set, and wakes all waiters.
    fn set(&self, why: Fault) {
        let mut state = self.lock();
        if state.why.is_some() {
            return;
        }
        state.why = Some(why);
        let waiting: Vec<Waker> = state.waiting.iter_mut().filter_map(Option::take).collect();
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    fn poll(&self, waiter: &mut Waiter, cx: &mut Context<'_>) -> Poll<Fault> {
        let mut state = self.lock();
        if let Some(why) = &state.why {
            return Poll::Ready(why.clone());
        }
        let slot = *waiter.0.get_or_insert_with(|| state.slot());
        match &mut state.waiting[slot] {
            Some(waker) => waker.clone_from(cx.waker()),
            empty => *empty = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    fn leave(&self, waiter: &mut Waiter) {
        let Some(slot) = waiter.0.take() else { return };
        let mut state = self.lock();
        let waker = state.waiting[slot].take();
        state.free.push(slot);
        drop(state);
        // Dropping the waker may drop its task; do that outside the lock.
        drop(waker);
    }

    async fn wait(&self) -> Fault {
        let mut registered = Registered(self, Waiter::default());
        poll_fn(|cx| registered.0.poll(&mut registered.1, cx)).await
    }

    fn lock(&self) -> MutexGuard<'_, LossState> {
        self.0.lock()
    }
}

impl LossState {
    fn slot(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.waiting.push(None);
            self.waiting.len() - 1
        })
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.0.leave(&mut self.1);
    }
}

impl fmt::Debug for LossSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LossSignal").field("why", &self.lock().why).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use trunkline_protocol::FaultKind;

    #[tokio::test(start_paused = true)]
    async fn all_who_wait_hear_the_first_reason_and_slots_are_used_again() {
        let loss = Arc::new(LossSignal::default());
        for _ in 0..10 {
            tokio::time::timeout(Duration::from_millis(1), loss.wait()).await.unwrap_err();
        }
        assert_eq!(loss.lock().waiting.len(), 1);
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let loss = Arc::clone(&loss);
                tokio::spawn(async move { loss.wait().await.kind() })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(1)).await;
        loss.set(Fault::new(FaultKind::ServerExited, "first"));
        loss.set(Fault::new(FaultKind::Timeout, "second"));
        for waiter in waiters {
            assert_eq!(waiter.await.unwrap(), FaultKind::ServerExited);
        }
        assert_eq!(loss.wait().await.message(), "first");
    }
}
