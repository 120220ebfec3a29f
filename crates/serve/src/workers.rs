//! Lanes: the threads that connections are dealt to.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};
use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

/// Runtimes of one thread each. A connection stays on its lane with everything that its calls do, so that one call never waits
/// for another thread to wake up. Without lanes all connections are served by the runtime that accepts them.
#[derive(Debug, Clone, Default)]
pub struct Lanes(Arc<[Lane]>);

#[derive(Debug)]
struct Lane {
    runtime: Handle,
    connections: AtomicUsize,
}

/// Threads to serve connections on. They end, with all that runs on them, when this is dropped.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use trunkline_serve::{LaneThreads, ServeOptions};
///
/// let threads = LaneThreads::start(std::thread::available_parallelism()?.get())?;
/// let options = ServeOptions { lanes: threads.lanes(), ..ServeOptions::default() };
/// # drop(options);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct LaneThreads(Vec<LaneThread>);

#[derive(Debug)]
struct LaneThread {
    runtime: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

/// A connection's place in a lane, for as long as it is held.
#[derive(Debug)]
pub(crate) struct Place {
    lanes: Lanes,
    number: usize,
}

impl Lanes {
    /// Runtimes that somebody else keeps running.
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

impl LaneThreads {
    pub fn start(count: usize) -> io::Result<Self> {
        (1..=count).map(LaneThread::start).collect::<Result<_, _>>().map(Self)
    }

    /// What connections are dealt to.
    pub fn lanes(&self) -> Lanes {
        Lanes::new(self.runtimes())
    }

    pub fn runtimes(&self) -> impl Iterator<Item = Handle> {
        self.0.iter().map(|lane| lane.runtime.clone())
    }
}

impl LaneThread {
    fn start(number: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name(format!("lane-{number}")).spawn(move || {
            // Whether it was told or the teller is gone: both are the end.
            drop(runtime.block_on(stopped));
        })?;
        Ok(Self { runtime: handle, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for LaneThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("a thread that served connections panicked");
        }
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
