//! Limits the number of subscriptions, per caller and in total.

use parking_lot::{Mutex, MutexGuard};
use std::{collections::HashMap, sync::Arc};
use trunkline_protocol::{Caller, Fault, FaultKind};

#[derive(Debug)]
pub(super) struct Listeners {
    most_per_caller: usize,
    most: usize,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    by_caller: HashMap<String, usize>,
}

/// The slot of a subscription; dropping it frees the slot.
#[derive(Debug)]
pub(super) struct ListenerSlot {
    listeners: Arc<Listeners>,
    caller: String,
}

impl Listeners {
    pub(super) fn new(most_per_caller: usize, most: usize) -> Arc<Self> {
        Arc::new(Self { most_per_caller, most, counts: Mutex::default() })
    }

    pub(super) fn take(self: &Arc<Self>, caller: &Caller) -> Result<ListenerSlot, Fault> {
        let mut counts = self.lock();
        let own = counts.by_caller.get(&caller.id).copied().unwrap_or(0);
        if own >= self.most_per_caller || counts.all >= self.most {
            return Err(Fault::new(FaultKind::Overloaded, "too many subscriptions are open; end one first"));
        }
        counts.all += 1;
        counts.by_caller.insert(caller.id.clone(), own + 1);
        Ok(ListenerSlot { listeners: Arc::clone(self), caller: caller.id.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock()
    }
}

impl Drop for ListenerSlot {
    fn drop(&mut self) {
        let mut counts = self.listeners.lock();
        counts.all -= 1;
        let left = counts.by_caller.get_mut(&self.caller).map(|own| {
            *own -= 1;
            *own
        });
        if left == Some(0) {
            counts.by_caller.remove(&self.caller);
        }
    }
}
