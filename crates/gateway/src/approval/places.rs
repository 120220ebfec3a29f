//! The places of calls that wait for an operator, and the share of each caller.

use parking_lot::Mutex;
use std::{collections::HashMap, sync::Arc};
use trunkline_protocol::Caller;

/// One caller with a key or token may hold one of so many places.
const SHARE: usize = 4;

/// All places. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct Places {
    most: usize,
    /// The number of places that each caller holds.
    held: Arc<Mutex<HashMap<String, usize>>>,
}

/// A place, which is free again when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Places,
    caller: String,
}

impl Places {
    pub(super) fn new(most: usize) -> Self {
        Self { most, held: Arc::default() }
    }

    /// `None` if all places are taken, or all that this caller may have. The local user is alone,
    /// and may have all.
    pub(super) fn take(&self, caller: &Caller) -> Option<Place> {
        let share = if Caller::is_local(caller) { self.most } else { self.most.div_ceil(SHARE) };
        let mut held = self.held.lock();
        let own = held.get(&caller.id).copied().unwrap_or_default();
        if own >= share || held.values().sum::<usize>() >= self.most {
            return None;
        }
        held.insert(caller.id.clone(), own + 1);
        Some(Place { places: self.clone(), caller: caller.id.clone() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.places.held.lock();
        match held.get_mut(&self.caller) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(held.remove(&self.caller)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(id: &str) -> Caller {
        Caller { id: id.to_owned(), ..Caller::clone(&Caller::local()) }
    }

    #[test]
    fn s07_no_caller_holds_all_places() {
        let places = Places::new(8);
        let (hog, other) = (caller("key:hog"), caller("key:other"));
        let held = [places.take(&hog), places.take(&hog)];
        assert!(held.iter().all(Option::is_some) && places.take(&hog).is_none());
        let others = places.take(&other);
        assert!(others.is_some());
        drop(held);
        assert!(places.take(&hog).is_some());
        assert!(Places::new(1).take(&hog).is_some());
    }

    #[test]
    fn the_local_user_may_have_all() {
        let (places, local) = (Places::new(2), Caller::local());
        let held = [places.take(&local), places.take(&local)];
        assert!(held.iter().all(Option::is_some) && places.take(&local).is_none());
        drop(held);
        assert!(places.take(&local).is_some());
    }
}
