//! Lanes: the threads that connections are dealt to.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use tokio::runtime::Handle;

/// Runtimes of one thread each. A connection stays on its lane with everything that its calls do, so that one call never waits
/// for another thread to wake up. Without lanes all connections are served by the runtime that accepts them.
#[derive(Debug, Clone, Default)]
pub struct Lanes(Arc<[Lane]>);

#[derive(Debug)]
struct Lane {
    runtime: Handle,
    connections: AtomicUsize,
}

/// A connection's place in a lane, for as long as it is held.
#[derive(Debug)]
pub(crate) struct Place {
    lanes: Lanes,
    number: usize,
}

impl Lanes {
    pub fn new(runtimes: impl IntoIterator<Item = Handle>) -> Self {
        let lane = |runtime| Lane { runtime, connections: AtomicUsize::new(0) };
        Self(runtimes.into_iter().map(lane).collect())
    }

    /// A place in the lane with the fewest connections, the first of these.
    pub(crate) fn place(&self) -> Option<Place> {
        let load = |(_, lane): &(usize, &Lane)| lane.connections.load(Ordering::Relaxed);
        let (number, lane) = self.0.iter().enumerate().min_by_key(load)?;
        lane.connections.fetch_add(1, Ordering::Relaxed);
        Some(Place { lanes: self.clone(), number })
    }
}

impl Place {
    pub(crate) fn runtime(&self) -> &Handle {
        &self.lane().runtime
    }

    fn lane(&self) -> &Lane {
        &self.lanes.0[self.number]
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.lane().connections.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_lanes_there_is_no_place() {
        assert!(Lanes::default().place().is_none());
    }

    #[tokio::test]
    async fn connections_are_dealt_evenly_and_a_free_place_is_taken_first() {
        let lanes = Lanes::new(vec![Handle::current(); 3]);
        let numbers = |places: &[Place]| places.iter().map(|place| place.number).collect::<Vec<_>>();
        let mut places: Vec<_> = (0..6).filter_map(|_| lanes.place()).collect();
        assert_eq!(numbers(&places), [0, 1, 2, 0, 1, 2]);
        drop(places.remove(1));
        places.extend(lanes.place());
        places.extend(lanes.place());
        assert_eq!(numbers(&places[5..]), [1, 0]);
    }
}
