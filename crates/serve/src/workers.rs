//! Workers: the threads that connections are assigned to.

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

/// Runtimes of one thread each. A connection stays on its worker with everything that its calls
/// do, so that a call never waits for another thread to wake up. Without workers, connections are
/// served by the runtime that accepts them.
#[derive(Debug, Clone, Default)]
pub struct Workers(Arc<[Worker]>);

#[derive(Debug)]
struct Worker {
    runtime: Handle,
    connections: AtomicUsize,
}

/// Threads to serve connections on. Dropping this ends them and all that runs on them.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use trunkline_serve::{WorkerThreads, ServeOptions};
///
/// let threads = WorkerThreads::start(std::thread::available_parallelism()?.get())?;
/// let options = ServeOptions { workers: threads.workers(), ..ServeOptions::default() };
/// # drop(options);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct WorkerThreads(Vec<WorkerThread>);

#[derive(Debug)]
struct WorkerThread {
    runtime: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

/// Counts as one connection of its worker until it is dropped.
#[derive(Debug)]
pub(crate) struct Assignment {
    workers: Workers,
    number: usize,
}

impl Workers {
    /// Runtimes that the caller keeps running.
    pub fn new(runtimes: impl IntoIterator<Item = Handle>) -> Self {
        let worker = |runtime| Worker { runtime, connections: AtomicUsize::new(0) };
        Self(runtimes.into_iter().map(worker).collect())
    }

    /// The first of the workers with the fewest connections.
    pub(crate) fn assign(&self) -> Option<Assignment> {
        let load = |(_, worker): &(usize, &Worker)| worker.connections.load(Ordering::Relaxed);
        let (number, worker) = self.0.iter().enumerate().min_by_key(load)?;
        worker.connections.fetch_add(1, Ordering::Relaxed);
        Some(Assignment { workers: self.clone(), number })
    }
}

impl WorkerThreads {
    pub fn start(count: usize) -> io::Result<Self> {
        (1..=count).map(WorkerThread::start).collect::<Result<_, _>>().map(Self)
    }

    /// The workers that run on these threads.
    pub fn workers(&self) -> Workers {
        Workers::new(self.runtimes())
    }

    pub fn runtimes(&self) -> impl Iterator<Item = Handle> {
        self.0.iter().map(|thread| thread.runtime.clone())
    }
}

impl WorkerThread {
    fn start(number: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name(format!("worker-{number}")).spawn(move || {
            // Resolves with a message or when the sender is dropped; both mean stop.
            drop(runtime.block_on(stopped));
        })?;
        Ok(Self { runtime: handle, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for WorkerThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("a worker thread panicked");
        }
    }
}

impl Assignment {
    pub(crate) fn runtime(&self) -> &Handle {
        &self.worker().runtime
    }

    fn worker(&self) -> &Worker {
        &self.workers.0[self.number]
    }
}

impl Drop for Assignment {
    fn drop(&mut self) {
        self.worker().connections.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_workers_nothing_is_assigned() {
        assert!(Workers::default().assign().is_none());
    }

    #[tokio::test]
    async fn connections_are_assigned_evenly_and_a_freed_worker_comes_first() {
        let workers = Workers::new(vec![Handle::current(); 3]);
        let numbers = |assigned: &[Assignment]| assigned.iter().map(|one| one.number).collect::<Vec<_>>();
        let mut assigned: Vec<_> = (0..6).filter_map(|_| workers.assign()).collect();
        assert_eq!(numbers(&assigned), [0, 1, 2, 0, 1, 2]);
        drop(assigned.remove(1));
        assigned.extend(workers.assign());
        assigned.extend(workers.assign());
        assert_eq!(numbers(&assigned[5..]), [1, 0]);
    }
}
