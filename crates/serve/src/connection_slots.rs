//! Limits the number of connections. When all slots are taken, the connection that has been idle
//! longest is evicted.

use parking_lot::Mutex;
use std::{sync::Arc, time::Duration};
use tokio::{sync::Notify, time::Instant};

/// Time for an evicted connection to close before another one is evicted: a request may have
/// arrived on it in the meantime.
const EVICT_AGAIN: Duration = Duration::from_millis(10);
/// Time that a connection has for its first bytes, or for the rest of a request head, before it
/// counts as idle.
const HEAD_GRACE: Duration = Duration::from_secs(1);

pub(crate) struct ConnectionSlots {
    max: usize,
    taken: Mutex<TakenSlots>,
    freed: Notify,
}

#[derive(Default)]
struct TakenSlots {
    slots: Vec<Option<Arc<ConnectionSlot>>>,
    free: Vec<usize>,
}

/// The state that decides if a connection may be evicted; shared with the task that serves it.
pub(crate) struct ConnectionSlot {
    state: Mutex<SlotState>,
    evicted: Notify,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotState {
    /// It waits for a request.
    Idle { since: Instant },
    /// A request is being answered.
    Busy,
    /// It was idle, and its slot goes to another connection.
    Evicted,
}

/// Frees its slot when dropped.
pub(crate) struct SlotGuard {
    slots: Arc<ConnectionSlots>,
    number: usize,
}

impl ConnectionSlots {
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, taken: Mutex::default(), freed: Notify::new() })
    }

    /// Waits for a free slot, and evicts an idle connection if there is none.
    pub(crate) async fn acquire(self: &Arc<Self>, slot: &Arc<ConnectionSlot>) -> SlotGuard {
        loop {
            let mut freed = std::pin::pin!(self.freed.notified());
            freed.as_mut().enable();
            if let Some(guard) = self.take(slot) {
                return guard;
            }
            self.evict_one(Instant::now());
            if tokio::time::timeout(EVICT_AGAIN, freed).await.is_err() {
                tracing::debug!("a connection waits for a slot");
            }
        }
    }

    fn take(self: &Arc<Self>, slot: &Arc<ConnectionSlot>) -> Option<SlotGuard> {
        let mut taken = self.taken.lock();
        let number = match taken.free.pop() {
            Some(number) => number,
            None if taken.slots.len() < self.max => {
                taken.slots.push(None);
                taken.slots.len() - 1
            }
            None => return None,
        };
        taken.slots[number] = Some(slot.clone());
        Some(SlotGuard { slots: self.clone(), number })
    }

    fn evict_one(&self, now: Instant) {
        let taken = self.taken.lock();
        let idle = taken.slots.iter().flatten().filter_map(|slot| Some((slot.idle_since()?, slot)));
        if let Some((since, slot)) = idle.min_by_key(|(since, _)| *since)
            && since <= now
        {
            slot.evict(since);
        }
    }
}

impl ConnectionSlot {
    pub(crate) fn new() -> Arc<Self> {
        let state = SlotState::Idle { since: Instant::now() + HEAD_GRACE };
        Arc::new(Self { state: Mutex::new(state), evicted: Notify::new() })
    }

    pub(crate) fn set_idle(&self, now: Instant) {
        *self.state.lock() = SlotState::Idle { since: now };
    }

    /// A part of a request head has arrived.
    pub(crate) fn set_reading_head(&self, now: Instant) {
        *self.state.lock() = SlotState::Idle { since: now + HEAD_GRACE };
    }

    pub(crate) fn set_busy(&self) {
        *self.state.lock() = SlotState::Busy;
    }

    /// Resolves after an eviction, which a new request may have undone: see [`Self::is_evicted`].
    pub(crate) async fn evicted(&self) {
        self.evicted.notified().await;
    }

    pub(crate) fn is_evicted(&self) -> bool {
        *self.state.lock() == SlotState::Evicted
    }

    fn idle_since(&self) -> Option<Instant> {
        match *self.state.lock() {
            SlotState::Idle { since } => Some(since),
            SlotState::Busy | SlotState::Evicted => None,
        }
    }

    /// Evicts the connection unless its state has changed since it was looked at.
    fn evict(&self, seen: Instant) {
        let mut state = self.state.lock();
        if *state == (SlotState::Idle { since: seen }) {
            *state = SlotState::Evicted;
            self.evicted.notify_one();
        }
    }
}

impl Drop for SlotGuard {
    fn drop(&mut self) {
        let mut taken = self.slots.taken.lock();
        taken.slots[self.number] = None;
        taken.free.push(self.number);
        drop(taken);
        self.slots.freed.notify_waiters();
    }
}
