//! Listeners: how many subscriptions there are, and whose.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use trunkline_protocol::{Caller, Fault, FaultKind};

#[derive(Debug)]
pub(super) struct Listeners {
    most_per_caller: usize,
    most: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    all: usize,
    by_caller: HashMap<String, usize>,
}

/// A subscription's place; dropping it gives the place back.
#[derive(Debug)]
pub(super) struct Seat {
    listeners: Arc<Listeners>,
    caller: String,
}

impl Listeners {
    pub(super) fn new(most_per_caller: usize, most: usize) -> Arc<Self> {
        Arc::new(Self { most_per_caller, most, held: Mutex::default() })
    }

    pub(super) fn take(self: &Arc<Self>, caller: &Caller) -> Result<Seat, Fault> {
        let mut held = self.lock();
        let own = held.by_caller.get(&caller.id).copied().unwrap_or(0);
        if own >= self.most_per_caller || held.all >= self.most {
            return Err(Fault::new(FaultKind::Overloaded, "too many subscriptions are open; end one first"));
        }
        held.all += 1;
        held.by_caller.insert(caller.id.clone(), own + 1);
        Ok(Seat { listeners: Arc::clone(self), caller: caller.id.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut held = self.listeners.lock();
        held.all -= 1;
        let left = held.by_caller.get_mut(&self.caller).map(|own| {
            *own -= 1;
            *own
        });
        if left == Some(0) {
            held.by_caller.remove(&self.caller);
        }
    }
}
