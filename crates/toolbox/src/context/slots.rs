//! Slots: how many calls run at once, and who goes next.
//!
//! A call that finds no slot waits in line. The line is ordered by priority, and whoever waits rises by one priority each
//! [`AGING`], so that nobody waits for ever; it is bounded, and beyond its end calls are refused at once.

use crate::Priority;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{sync::oneshot, time::Instant};

/// After this long a waiting call counts as one of the next higher priority.
pub(crate) const AGING: Duration = Duration::from_secs(5);

/// The slots of a toolbox.
#[derive(Debug)]
pub(crate) struct Slots {
    total: usize,
    max_waiting: usize,
    state: Mutex<State>,
}

/// What a call asks for: a slot of the toolbox and one of its own kind.
#[derive(Debug, Clone)]
pub(crate) struct Ticket {
    pub(crate) kind: Arc<str>,
    pub(crate) of_kind: usize,
    pub(crate) priority: Priority,
}

/// A slot, held as long as this lives.
#[derive(Debug)]
pub(crate) struct Permit {
    slots: Arc<Slots>,
    kind: Arc<str>,
}

/// The line is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{waiting} calls are waiting already")]
pub(crate) struct LineFull {
    pub(crate) waiting: usize,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    running_of: HashMap<Arc<str>, usize>,
    line: Vec<Waiting>,
    next_number: u64,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    ticket: Ticket,
    since: Instant,
    ready: oneshot::Sender<Permit>,
}

/// Takes a waiting call out of the line when it stops waiting.
struct Place<'a> {
    slots: &'a Slots,
    number: u64,
}

impl Slots {
    pub(crate) fn new(total: usize, max_waiting: usize) -> Arc<Self> {
        Arc::new(Self { total, max_waiting, state: Mutex::default() })
    }

    /// Waits for a slot. Dropping the future leaves the line.
    pub(crate) async fn take(self: &Arc<Self>, ticket: Ticket) -> Result<Permit, LineFull> {
        let (place, ready) = {
            let mut state = self.state();
            if self.is_free_for(&state, &ticket) {
                return Ok(self.seat(&mut state, ticket.kind));
            }
            if state.line.len() >= self.max_waiting {
                return Err(LineFull { waiting: state.line.len() });
            }
            let (sender, ready) = oneshot::channel();
            let number = state.next_number;
            state.next_number += 1;
            state.line.push(Waiting { number, ticket, since: Instant::now(), ready: sender });
            (Place { slots: self, number }, ready)
        };
        let permit = ready.await.map_err(|_| LineFull { waiting: 0 });
        drop(place);
        permit
    }

    pub(crate) fn running(&self) -> usize {
        self.state().running
    }

    pub(crate) fn waiting(&self) -> usize {
        self.state().line.len()
    }

    fn is_free_for(&self, state: &State, ticket: &Ticket) -> bool {
        let of_kind = state.running_of.get(&ticket.kind).copied().unwrap_or(0);
        state.running < self.total && of_kind < ticket.of_kind
    }

    fn seat(self: &Arc<Self>, state: &mut State, kind: Arc<str>) -> Permit {
        state.running += 1;
        *state.running_of.entry(Arc::clone(&kind)).or_insert(0) += 1;
        Permit { slots: Arc::clone(self), kind }
    }

    /// The next in line that can run now: the highest priority, and among equals who came first.
    fn next(self: &Arc<Self>) -> Option<(oneshot::Sender<Permit>, Permit)> {
        let mut state = self.state();
        let now = Instant::now();
        let free = state.line.iter().enumerate().filter(|(_, w)| self.is_free_for(&state, &w.ticket));
        let (at, _) = free.max_by_key(|(_, w)| (w.rank(now), std::cmp::Reverse(w.number)))?;
        let waiting = state.line.remove(at);
        let permit = self.seat(&mut state, waiting.ticket.kind);
        Some((waiting.ready, permit))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        // A permit that nobody takes any more comes back here by being dropped in turn.
        if let Some((ready, permit)) = self.slots.next() {
            drop(ready.send(permit));
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.slots.state().line.retain(|w| w.number != self.number);
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
        assert_eq!(refused.unwrap_err(), LineFull { waiting: 1 });
        drop(waiting);
        assert_eq!(slots.waiting(), 0);
        drop(held);
        assert_eq!(slots.running(), 0);
    }
}
