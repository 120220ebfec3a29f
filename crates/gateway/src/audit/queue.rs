//! What waits to be written, and whose turn it is to write.
//!
//! Whoever puts a record in writes it: at once when nobody else is expected, else after others who are ready to run put
//! theirs in, so that one write does for all. Meanwhile the turn is nobody's: whoever comes back first writes for all, and the
//! others find theirs written when they come back. So nobody waits for somebody who only waits himself, and no thread has to be
//! woken for a record. What takes long is left to the trail's own thread: syncing, new segments, and a disk that fails. It is
//! bounded by slots: each call holds one from before its start record until its end record is written, so at most two records
//! per slot can wait.

use super::{Options, pace::Pace};
use std::{
    mem,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
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

/// Tells whoever waits for a record how it went.
pub(super) type Told = oneshot::Sender<Result<(), Unwritten>>;

/// Hears it.
pub(super) type Heard = oneshot::Receiver<Result<(), Unwritten>>;

/// A record on its way.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) members: String,
    /// When it was made.
    pub(super) at: Instant,
    pub(super) need: Need,
    pub(super) told: Option<Told>,
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
    /// The thread waits here for work, and for its turn.
    wake: Condvar,
    pub(super) slots: Arc<Semaphore>,
    lost: AtomicU64,
    status: Mutex<Status>,
}

#[derive(Debug, Default)]
struct Waiting {
    entries: Vec<Entry>,
    /// How many of them have to be synced, which only the thread does.
    firm: usize,
    /// Somebody has the turn to write.
    taken: bool,
    /// The next turn is the thread's.
    thread_wanted: bool,
    /// When the thread has to sync what was written.
    due: Option<Instant>,
    closed: bool,
    pace: Pace,
}

/// What the thread should do with its turn.
#[derive(Debug)]
pub(super) enum Next {
    Write(Vec<Entry>),
    /// The time is up and nothing came.
    Sync,
    Stop,
}

/// Whether whoever put a record in has to see to its writing.
#[must_use = "nothing is written any more while a turn is taken and not used"]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Mine,
    /// Somebody has it, and writes all that is there before giving it back.
    Anothers,
    Threads,
}

/// What becomes of a record that somebody waits for.
#[must_use = "nothing is written any more while a turn is taken and not used"]
#[derive(Debug)]
pub(super) enum Place {
    /// It comes back, with what gathered before it: whoever brought it has the turn and writes all that.
    Mine(Entry, Vec<Entry>),
    /// It waits for whoever comes first to write it.
    Among(Heard),
    /// The thread writes it.
    Threads(Heard),
}

impl Entry {
    /// The same with somebody who waits for it.
    pub(super) fn awaited(self) -> (Self, Heard) {
        let (told, heard) = oneshot::channel();
        (Self { told: Some(told), ..self }, heard)
    }
}

impl Queue {
    pub(super) fn new(options: &Options) -> Self {
        let calls = options.calls.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            waiting: Mutex::default(),
            wake: Condvar::new(),
            slots: Arc::new(Semaphore::new(calls)),
            lost: AtomicU64::new(0),
            status: Mutex::default(),
        }
    }

    /// Puts a record in that nobody waits for.
    pub(super) fn push(&self, entry: Entry) -> Turn {
        let mut waiting = lock(&self.waiting);
        let turn = waiting.turn_for(&entry);
        if turn == Turn::Threads {
            self.wake.notify_one();
        }
        waiting.add(entry);
        waiting.taken |= turn == Turn::Mine;
        turn
    }

    /// Puts a record in that somebody waits for.
    pub(super) fn enter(&self, entry: Entry) -> Place {
        let mut waiting = lock(&self.waiting);
        let turn = waiting.turn_for(&entry);
        if turn == Turn::Mine && !waiting.pace.expects_others() {
            waiting.taken = true;
            return Place::Mine(entry, mem::take(&mut waiting.entries));
        }
        let (entry, heard) = entry.awaited();
        waiting.add(entry);
        if turn == Turn::Threads {
            self.wake.notify_one();
            return Place::Threads(heard);
        }
        Place::Among(heard)
    }

    /// Takes the turn for what gathered, if it is free and there is anything.
    pub(super) fn take_turn(&self) -> Turn {
        let mut waiting = lock(&self.waiting);
        if waiting.taken || waiting.entries.is_empty() {
            return Turn::Anothers;
        }
        if waiting.is_for_thread() {
            return Turn::Threads;
        }
        let gathered = waiting.entries.len();
        waiting.pace.gathered(gathered);
        waiting.taken = true;
        Turn::Mine
    }

    /// What gathered, for whoever has the turn; `None` when there is nothing left that is not for the thread, and the turn is
    /// over.
    pub(super) fn take(&self) -> Option<Vec<Entry>> {
        let mut waiting = lock(&self.waiting);
        if waiting.is_for_thread() || waiting.entries.is_empty() {
            self.end_turn(&mut waiting);
            return None;
        }
        Some(mem::take(&mut waiting.entries))
    }

    /// Ends the turn, and leaves to the thread what is given back and what gathered after it.
    pub(super) fn leave(&self, mut back: Vec<Entry>) {
        let mut waiting = lock(&self.waiting);
        back.append(&mut waiting.entries);
        waiting.entries = back;
        waiting.thread_wanted |= !waiting.entries.is_empty();
        self.end_turn(&mut waiting);
    }

    fn end_turn(&self, waiting: &mut Waiting) {
        waiting.taken = false;
        if waiting.is_for_thread() {
            self.wake.notify_one();
        }
    }

    /// Has the thread take the next turn.
    pub(super) fn want_thread(&self) {
        lock(&self.waiting).thread_wanted = true;
    }

    /// Says when the thread has to sync.
    pub(super) fn sync_by(&self, due: Option<Instant>) {
        lock(&self.waiting).due = due;
        if due.is_some() {
            self.wake.notify_one();
        }
    }

    pub(super) fn close(&self) {
        lock(&self.waiting).closed = true;
        self.wake.notify_one();
    }

    /// For the thread: waits until it is wanted, or until its time, and takes the turn.
    pub(super) fn next(&self) -> Next {
        let mut waiting = lock(&self.waiting);
        loop {
            let is_due = waiting.due.is_some_and(|due| due <= Instant::now());
            if !waiting.taken && (waiting.is_for_thread() || is_due || waiting.closed) {
                waiting.taken = true;
                waiting.thread_wanted = false;
                waiting.firm = 0;
                let stops = waiting.closed && waiting.entries.is_empty();
                let entries = mem::take(&mut waiting.entries);
                return match entries.is_empty() {
                    false => Next::Write(entries),
                    true if stops => Next::Stop,
                    true => Next::Sync,
                };
            }
            if waiting.taken && is_due {
                // Else those who write could go on without end.
                waiting.thread_wanted = true;
            }
            waiting = self.wait(waiting, is_due);
        }
    }

    /// For the thread: takes the turn again after a sync, when it is free. It stays wanted, because it may have been meanwhile.
    pub(super) fn retake(&self) {
        let mut waiting = lock(&self.waiting);
        while waiting.taken {
            waiting.thread_wanted = true;
            waiting = self.wake.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.taken = true;
    }

    fn wait<'a>(&self, waiting: MutexGuard<'a, Waiting>, is_due: bool) -> MutexGuard<'a, Waiting> {
        match waiting.due.filter(|_| !is_due) {
            Some(due) => {
                let left = due.saturating_duration_since(Instant::now());
                self.wake.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.wake.wait(waiting).unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Counts a record that nobody will find.
    pub(super) fn lose(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn take_lost(&self) -> u64 {
        match self.lost.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.lost.swap(0, Ordering::Relaxed),
        }
    }

    pub(super) fn status(&self) -> MutexGuard<'_, Status> {
        lock(&self.status)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        lock(&self.waiting).entries.len()
    }
}

impl Waiting {
    /// Whose turn it would be after this record came.
    fn turn_for(&self, entry: &Entry) -> Turn {
        match () {
            () if self.taken => Turn::Anothers,
            () if self.is_for_thread() || entry.need == Need::Synced => Turn::Threads,
            () => Turn::Mine,
        }
    }

    fn add(&mut self, entry: Entry) {
        self.firm += usize::from(entry.need == Need::Synced);
        self.entries.push(entry);
    }

    fn is_for_thread(&self) -> bool {
        self.thread_wanted || self.firm > 0
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
