//! What waits for the writer. It is bounded by slots: each call holds one from before its start record until its end
//! record is written, so at most two records per slot can wait.

use super::Options;
use std::{
    mem,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// The trail could not be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unwritten;

/// What must have happened to a record before whoever waits for it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    Written,
    Synced,
}

/// A record on its way.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) members: String,
    pub(super) need: Need,
    pub(super) told: Option<oneshot::Sender<Result<(), Unwritten>>>,
    /// Given back when the record is written.
    pub(super) slot: Option<OwnedSemaphorePermit>,
}

/// How the trail is doing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Why nothing can be written at present.
    pub failing: Option<String>,
    /// Writes and syncs that failed.
    pub failures: u64,
    /// The number of the last record.
    pub records: u64,
}

/// Between the calls and the writer.
#[derive(Debug)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    wake: Condvar,
    pub(super) slots: Arc<Semaphore>,
    lost: AtomicU64,
    status: Mutex<Status>,
}

#[derive(Debug, Default)]
struct Waiting {
    entries: Vec<Entry>,
    closed: bool,
}

/// What the writer should do next.
#[derive(Debug)]
pub(super) enum Next {
    Write(Vec<Entry>),
    /// The time is up and nothing came.
    Sync,
    Stop,
}

impl Queue {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            waiting: Mutex::default(),
            wake: Condvar::new(),
            slots: Arc::new(Semaphore::new(options.calls.clamp(1, Semaphore::MAX_PERMITS))),
            lost: AtomicU64::new(0),
            status: Mutex::default(),
        }
    }

    pub(super) fn push(&self, entry: Entry) {
        let mut waiting = lock(&self.waiting);
        waiting.entries.push(entry);
        // The writer takes everything at once, so only the first of a batch needs to wake it.
        if waiting.entries.len() == 1 {
            self.wake.notify_one();
        }
    }

    pub(super) fn close(&self) {
        lock(&self.waiting).closed = true;
        self.wake.notify_one();
    }

    /// Waits for records, until `due` if there is one.
    pub(super) fn next(&self, due: Option<Instant>) -> Next {
        let mut waiting = lock(&self.waiting);
        loop {
            if !waiting.entries.is_empty() {
                return Next::Write(mem::take(&mut waiting.entries));
            }
            if waiting.closed {
                return Next::Stop;
            }
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            waiting = match left {
                Some(Duration::ZERO) => return Next::Sync,
                Some(left) => self.wake.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.wake.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Counts a record that nobody will find.
    pub(super) fn lose(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn take_lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }

    pub(super) fn status(&self) -> MutexGuard<'_, Status> {
        lock(&self.status)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        lock(&self.waiting).entries.len()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
