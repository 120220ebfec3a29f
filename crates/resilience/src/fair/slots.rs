//! Slots for work, of which one caller has a share.

use super::Turns;
use parking_lot::Mutex;
use std::{collections::HashMap, fmt, sync::Arc};
use tokio::sync::oneshot;

/// A number of slots for work. One caller holds at most its share of them, and callers that wait
/// take turns. So nobody waits until all the work of another caller is done.
pub struct FairSlots {
    state: Mutex<State>,
    share: usize,
}

struct State {
    free: usize,
    /// Slots that callers hold; a caller without one is not there.
    held: HashMap<String, usize>,
    /// If a slot is free, all who wait here hold their share.
    waiting: Turns<oneshot::Sender<FairSlot>>,
}

/// A slot; dropping it hands it to the next that waits.
pub struct FairSlot {
    slots: Option<Arc<FairSlots>>,
    caller: String,
}

impl FairSlots {
    /// Both numbers are at least one. A `share` of `None` is all slots but one, so that no caller
    /// can hold all of them.
    pub fn new(slots: usize, share: Option<usize>) -> Arc<Self> {
        let slots = slots.max(1);
        let share = share.unwrap_or(slots - 1).clamp(1, slots);
        let state = State { free: slots, held: HashMap::new(), waiting: Turns::default() };
        Arc::new(Self { state: Mutex::new(state), share })
    }

    /// Waits for a slot. Dropping the future leaves the queue.
    pub async fn acquire(self: &Arc<Self>, caller: &str) -> FairSlot {
        loop {
            let offered = {
                let mut state = self.state.lock();
                if let Some(slot) = self.take(&mut state, caller) {
                    return slot;
                }
                let (offer, offered) = oneshot::channel();
                state.waiting.retain_of(caller, |waiting| !waiting.is_closed());
                state.waiting.push(caller, offer);
                offered
            };
            // The offer is dropped only with the slots, which `self` holds.
            if let Ok(slot) = offered.await {
                return slot;
            }
        }
    }

    /// A slot if one is free and the caller holds less than its share.
    pub fn try_acquire(self: &Arc<Self>, caller: &str) -> Option<FairSlot> {
        self.take(&mut self.state.lock(), caller)
    }

    fn take(self: &Arc<Self>, state: &mut State, caller: &str) -> Option<FairSlot> {
        if state.free == 0 || state.held_by(caller) >= self.share {
            return None;
        }
        state.hold(caller);
        Some(FairSlot { slots: Some(self.clone()), caller: caller.to_owned() })
    }

    /// Takes a slot back, and gives slots to those that may have them now.
    fn release(self: &Arc<Self>, caller: &str) {
        self.state.lock().give_back(caller);
        loop {
            let (caller, offer) = {
                let mut state = self.state.lock();
                if state.free == 0 {
                    return;
                }
                let State { waiting, held, .. } = &mut *state;
                let has_room = |caller: &str| held.get(caller).copied().unwrap_or_default() < self.share;
                let Some(next) = waiting.pop_where(has_room) else { return };
                state.hold(&next.0);
                next
            };
            if let Err(mut unwanted) = offer.send(FairSlot { slots: Some(self.clone()), caller }) {
                // That one stopped waiting. The slot is given back here, not by its drop, which
                // would call this function again for each that left.
                unwanted.slots = None;
                self.state.lock().give_back(&unwanted.caller);
            }
        }
    }
}

impl State {
    fn held_by(&self, caller: &str) -> usize {
        self.held.get(caller).copied().unwrap_or_default()
    }

    fn hold(&mut self, caller: &str) {
        self.free -= 1;
        *self.held.entry(caller.to_owned()).or_default() += 1;
    }

    fn give_back(&mut self, caller: &str) {
        self.free += 1;
        if let Some(held) = self.held.get_mut(caller) {
            *held -= 1;
            if *held == 0 {
                self.held.remove(caller);
            }
        }
    }
}

impl Drop for FairSlot {
    fn drop(&mut self) {
        if let Some(slots) = self.slots.take() {
            slots.release(&self.caller);
        }
    }
}

impl fmt::Debug for FairSlots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        f.debug_struct("FairSlots")
            .field("free", &state.free)
            .field("waiting", &state.waiting.len())
            .field("share", &self.share)
            .finish()
    }
}

impl fmt::Debug for FairSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FairSlot").field("caller", &self.caller).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

    type Waiting = std::pin::Pin<Box<dyn Future<Output = FairSlot> + Send>>;

    fn apply(slots: &Arc<FairSlots>, caller: &'static str) -> Waiting {
        let slots = slots.clone();
        let mut waiting: Waiting = Box::pin(async move { slots.acquire(caller).await });
        assert!(got(&mut waiting).is_none(), "{caller} did not have to wait");
        waiting
    }

    fn got(waiting: &mut Waiting) -> Option<FairSlot> {
        match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(slot) => Some(slot),
            Poll::Pending => None,
        }
    }

    fn now(slots: &Arc<FairSlots>, caller: &str) -> FairSlot {
        match pin!(slots.acquire(caller)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(slot) => slot,
            Poll::Pending => panic!("{caller} has to wait"),
        }
    }

    #[test]
    fn l08_no_caller_holds_all_slots() {
        let slots = FairSlots::new(3, None);
        let held = [now(&slots, "hog"), now(&slots, "hog")];
        let mut third = apply(&slots, "hog");
        let other = now(&slots, "other");
        drop(other);
        assert!(got(&mut third).is_none(), "the share counts while a slot is free, too");
        drop(held);
        assert!(got(&mut third).is_some());
    }

    #[test]
    fn l08_callers_take_turns_for_the_slots() {
        let slots = FairSlots::new(1, None);
        let running = now(&slots, "hog");
        let (mut first, mut second) = (apply(&slots, "hog"), apply(&slots, "hog"));
        let mut other = apply(&slots, "other");
        drop(running);
        let slot = got(&mut first).unwrap();
        drop(slot);
        assert!(got(&mut second).is_none());
        let slot = got(&mut other).unwrap();
        drop(slot);
        assert!(got(&mut second).is_some());
    }

    #[test]
    fn l08_those_that_left_hold_nothing() {
        let slots = FairSlots::new(2, Some(1));
        let running = [now(&slots, "a"), now(&slots, "b")];
        let left = [apply(&slots, "a"), apply(&slots, "a"), apply(&slots, "b")];
        let mut stays = apply(&slots, "a");
        drop(left);
        drop(running);
        let slot = got(&mut stays).unwrap();
        // One that is offered a slot and leaves before it looks gives it back.
        let offered = apply(&slots, "a");
        drop(slot);
        drop(offered);
        drop([now(&slots, "a"), now(&slots, "b")]);
        assert_eq!(slots.state.lock().free, 2);
        assert!(slots.state.lock().held.is_empty() && slots.state.lock().waiting.is_empty());
    }
}
