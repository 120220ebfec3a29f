//! Slots: a semaphore with priorities that limits how many calls run at once.
//!
//! A call that finds no free slot waits in a bounded queue; if the queue is full, the call is
//! refused at once. The queue is ordered by priority. A waiting call rises by one priority every
//! [`AGING`], so no call starves.

use crate::Priority;
use parking_lot::{Mutex, MutexGuard};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::{sync::oneshot, time::Instant};

/// Waiting time after which a call rises to the next higher priority.
pub(crate) const AGING: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Slots {
    total: usize,
    max_waiting: usize,
    state: Mutex<State>,
}

/// A call's request for a slot; it counts against the toolbox and against the limit of its kind.
#[derive(Debug, Clone)]
pub(crate) struct Ticket {
    pub(crate) kind: Arc<str>,
    pub(crate) of_kind: usize,
    pub(crate) priority: Priority,
}

/// A slot; dropping it releases the slot.
#[derive(Debug)]
pub(crate) struct Permit {
    slots: Arc<Slots>,
    kind: Arc<str>,
}

/// The queue for slots is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{waiting} calls are waiting already")]
pub(crate) struct QueueFull {
    pub(crate) waiting: usize,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    running_of: HashMap<Arc<str>, usize>,
    queue: Vec<Waiting>,
    next_number: u64,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    ticket: Ticket,
    since: Instant,
    ready: oneshot::Sender<Permit>,
}

/// Removes a waiting call from the queue on drop.
struct QueueGuard<'a> {
    slots: &'a Slots,
    number: u64,
}

impl Slots {
    pub(crate) fn new(total: usize, max_waiting: usize) -> Arc<Self> {
        Arc::new(Self { total, max_waiting, state: Mutex::default() })
    }

    /// Waits for a slot. Dropping the future removes the call from the queue.
    pub(crate) async fn take(self: &Arc<Self>, ticket: Ticket) -> Result<Permit, QueueFull> {
        let (guard, ready) = {
            let mut state = self.state();
            if self.is_free_for(&state, &ticket) {
                return Ok(self.occupy(&mut state, ticket.kind));
            }
            if state.queue.len() >= self.max_waiting {
                return Err(QueueFull { waiting: state.queue.len() });
            }
            let (sender, ready) = oneshot::channel();
            let number = state.next_number;
            state.next_number += 1;
            state.queue.push(Waiting { number, ticket, since: Instant::now(), ready: sender });
            (QueueGuard { slots: self, number }, ready)
        };
        let permit = ready.await.map_err(|_| QueueFull { waiting: 0 });
        drop(guard);
        permit
    }

    pub(crate) fn running(&self) -> usize {
        self.state().running
    }

    pub(crate) fn waiting(&self) -> usize {
        self.state().queue.len()
    }

    fn is_free_for(&self, state: &State, ticket: &Ticket) -> bool {
        let of_kind = state.running_of.get(&ticket.kind).copied().unwrap_or(0);
        state.running < self.total && of_kind < ticket.of_kind
    }

    fn occupy(self: &Arc<Self>, state: &mut State, kind: Arc<str>) -> Permit {
        state.running += 1;
        *state.running_of.entry(Arc::clone(&kind)).or_insert(0) += 1;
        Permit { slots: Arc::clone(self), kind }
    }

    /// The next queued call that can run now: highest priority first, then first come first
    /// served.
    fn next(self: &Arc<Self>) -> Option<(oneshot::Sender<Permit>, Permit)> {
        let mut state = self.state();
        let now = Instant::now();
        let free = state.queue.iter().enumerate().filter(|(_, w)| self.is_free_for(&state, &w.ticket));
        let (at, _) = free.max_by_key(|(_, w)| (w.rank(now), std::cmp::Reverse(w.number)))?;
        let waiting = state.queue.remove(at);
        let permit = self.occupy(&mut state, waiting.ticket.kind);
        Some((waiting.ready, permit))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Waiting {
    fn rank(&self, now: Instant) -> u64 {
        let risen = (now - self.since).as_secs() / AGING.as_secs();
        (self.ticket.priority as u64 + risen).min(Priority::High as u64)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.slots.state();
        state.running -= 1;
        if let Some(of_kind) = state.running_of.get_mut(&self.kind) {
            *of_kind -= 1;
            if *of_kind == 0 {
                state.running_of.remove(&self.kind);
            }
        }
        drop(state);
        // If the receiver is gone, the unsent permit is dropped, which runs this function again.
        if let Some((ready, permit)) = self.slots.next() {
            drop(ready.send(permit));
        }
    }
}

impl Drop for QueueGuard<'_> {
    fn drop(&mut self) {
        self.slots.state().queue.retain(|w| w.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn ticket(kind: &str, priority: Priority) -> Ticket {
        Ticket { kind: kind.into(), of_kind: 10, priority }
    }

    #[tokio::test(start_paused = true)]
    async fn higher_priority_goes_first_and_equals_in_order() {
        let slots = Slots::new(1, 10);
        let held = slots.take(ticket("a", Priority::Normal)).await.unwrap();
        let mut low = Box::pin(slots.take(ticket("a", Priority::Low)));
        let mut first = Box::pin(slots.take(ticket("a", Priority::High)));
        let mut second = Box::pin(slots.take(ticket("a", Priority::High)));
        for waiting in [&mut low, &mut first, &mut second] {
            assert!(waiting.now_or_never().is_none());
        }
        drop(held);
        let held = first.now_or_never().unwrap().unwrap();
        drop(held);
        let held = second.now_or_never().unwrap().unwrap();
        drop(held);
        assert!(low.now_or_never().unwrap().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_long_enough_is_not_overtaken_for_ever() {
        let slots = Slots::new(1, 10);
        let held = slots.take(ticket("a", Priority::High)).await.unwrap();
        let mut low = Box::pin(slots.take(ticket("a", Priority::Low)));
        assert!((&mut low).now_or_never().is_none());
        tokio::time::advance(AGING * 2).await;
        let mut high = Box::pin(slots.take(ticket("a", Priority::High)));
        assert!((&mut high).now_or_never().is_none());
        drop(held);
        assert!(low.now_or_never().unwrap().is_ok(), "aged to high, and came first");
        assert!(high.now_or_never().unwrap().is_ok());
    }

    #[tokio::test]
    async fn one_busy_kind_does_not_hold_up_the_others() {
        let slots = Slots::new(10, 10);
        let narrow = Ticket { of_kind: 1, ..ticket("narrow", Priority::High) };
        let held = slots.take(narrow.clone()).await.unwrap();
        let mut second = Box::pin(slots.take(narrow));
        assert!((&mut second).now_or_never().is_none());
        let other = slots.take(ticket("other", Priority::Low)).now_or_never().unwrap().unwrap();
        drop(other);
        assert!((&mut second).now_or_never().is_none(), "only its own kind lets it in");
        drop(held);
        assert!(second.now_or_never().unwrap().is_ok());
    }

    #[tokio::test]
    async fn a_full_line_refuses_and_leaving_it_makes_room() {
        let slots = Slots::new(1, 1);
        let held = slots.take(ticket("a", Priority::Normal)).await.unwrap();
        let mut waiting = Box::pin(slots.take(ticket("a", Priority::Normal)));
        assert!((&mut waiting).now_or_never().is_none());
        let refused = slots.take(ticket("a", Priority::High)).now_or_never().unwrap();
        assert_eq!(refused.unwrap_err(), QueueFull { waiting: 1 });
        drop(waiting);
        assert_eq!(slots.waiting(), 0);
        drop(held);
        assert_eq!(slots.running(), 0);
    }
}
