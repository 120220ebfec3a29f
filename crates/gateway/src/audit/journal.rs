//! Journal: the queue of records, and the threads that write them to the trail.
//!
//! This is group commit by the callers themselves: a caller queues its record, yields to the other
//! tasks of its runtime if that gathered more records recently ([`Pace`]), and then writes the
//! whole queue with one write. If another thread is already writing, that thread sees the record
//! before it stops. So no thread is woken for a record, which would cost more than the whole trail
//! (`docs/performance.md`). The trail's own thread does the slow work: syncs, new segments, and
//! recovery from disk failures.
//!
//! The queue is bounded by slots: each call holds one from before its start record until its end
//! record is taken from the queue, so at most two records per slot are queued.

use super::{
    Options,
    pace::Pace,
    record::{Need, Record, Unwritten},
    writer::Writer,
};
use futures_util::future::BoxFuture;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::{
    mem,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::{
        OwnedSemaphorePermit, Semaphore,
        oneshot::{self, error::TryRecvError},
    },
    task::yield_now,
};
use trunkline_resilience::timeout;

/// Most writes of one caller in a row. Then the trail's thread takes over, so that no caller
/// writes the records of others for ever.
const ROUNDS: usize = 16;

/// Number of yields before a caller waits to be woken, which costs more.
const YIELDS: usize = 3;

#[derive(Debug)]
pub(super) struct Journal {
    queue: Mutex<Queue>,
    /// Wakes the trail's thread.
    wake: Condvar,
    /// Callers use only `try_lock`; the thread that holds the lock writes the queue before it
    /// unlocks.
    writer: Mutex<Writer>,
    slots: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Queue {
    records: Vec<Record>,
    /// True while only the trail's thread may take records.
    for_thread: bool,
    /// When the trail's thread must run at the latest.
    due: Option<Instant>,
    closed: bool,
    pace: Pace,
}

/// The result of writing a record that its caller waits for.
pub(super) type Writing = BoxFuture<'static, Result<(), Unwritten>>;

impl Journal {
    pub(super) fn new(writer: Writer, options: &Options) -> Self {
        let calls = options.calls.clamp(1, Semaphore::MAX_PERMITS);
        let queue = Queue { due: writer.due(), ..Queue::default() };
        Self {
            queue: Mutex::new(queue),
            wake: Condvar::new(),
            writer: Mutex::new(writer),
            slots: Arc::new(Semaphore::new(calls)),
        }
    }

    /// Returns a slot if one is free.
    pub(super) fn try_slot(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.slots).try_acquire_owned().ok()
    }

    /// Waits for a slot for at most `patience`.
    pub(super) async fn slot(&self, patience: Duration) -> Option<OwnedSemaphorePermit> {
        timeout(patience, Arc::clone(&self.slots).acquire_owned()).await?.ok()
    }

    /// Writes a record without waiting for the result.
    pub(super) fn put(&self, record: Record) {
        self.queue().records.push(record);
        self.drain();
    }

    /// Writes a record and returns a future of the result, with the timeout `patience`; `None` if
    /// the record is already written. Dropping the future does not cancel the write.
    pub(super) fn write(self: &Arc<Self>, record: Record, patience: Duration) -> Option<Writing> {
        let (done, result) = oneshot::channel();
        let need = record.need;
        let mut queue = self.queue();
        queue.records.push(Record { done: Some(done), ..record });
        let gathers = need == Need::Written && queue.pace.expects_others();
        drop(queue);
        let mut waiting = Waiting { journal: Arc::clone(self), result, gathers };
        if !gathers {
            self.drain();
            if waiting.result() == Some(Ok(())) {
                return None;
            }
        }
        Some(Box::pin(async move {
            // A sync takes much longer than a few yields.
            let yields = if need == Need::Written { YIELDS } else { 0 };
            match waiting.result_after(yields).await {
                Some(result) => result,
                None => timeout(patience, &mut waiting.result)
                    .await
                    .and_then(Result::ok)
                    .unwrap_or(Err(Unwritten)),
            }
        }))
    }

    /// Writes the records that were queued during a yield, and notes their number.
    fn drain_gathered(&self) {
        let mut queue = self.queue();
        if queue.is_for_callers() {
            let gathered = queue.records.len();
            queue.pace.gathered(gathered);
            drop(queue);
            self.drain();
        }
    }

    /// Writes the queue, unless another thread does that.
    fn drain(&self) {
        while self.queue().is_for_callers() {
            // The holder of the lock checks the queue again after it unlocks.
            let Some(mut writer) = self.writer.try_lock() else { return };
            for round in 0.. {
                if round == ROUNDS {
                    self.queue().for_thread = true;
                }
                let Some(records) = self.take(&writer) else { break };
                writer.write(records);
            }
            self.release(writer);
        }
    }

    /// Takes the queue if callers may write it.
    fn take(&self, writer: &Writer) -> Option<Vec<Record>> {
        let mut queue = self.queue();
        queue.for_thread |= writer.needs_thread() && !queue.records.is_empty();
        queue.is_for_callers().then(|| mem::take(&mut queue.records))
    }

    /// Unlocks the writer and tells the thread when it has to run.
    fn release(&self, writer: MutexGuard<'_, Writer>) {
        let (due, now) = (writer.due(), writer.wants_thread());
        let mut queue = self.queue();
        drop(writer);
        queue.for_thread |= now;
        let is_sooner = due.is_some_and(|due| queue.due.is_none_or(|known| due < known));
        queue.due = due;
        if queue.for_thread || is_sooner {
            self.wake.notify_one();
        }
    }

    /// The main loop of the trail's thread; returns when the journal is closed and all is written.
    pub(super) fn run(&self) {
        while let Some(records) = self.next() {
            let mut writer = self.writer();
            if let Some(syncing) = writer.commit(records) {
                // Callers can write during the sync. Only callers that requested durability wait
                // for it.
                self.hand_back(writer);
                let result = syncing.run();
                self.queue().for_thread = true;
                writer = self.writer();
                writer.end_sync(syncing, result);
            }
            self.hand_back(writer);
        }
        self.writer().finish();
    }

    /// Called by the trail's thread: lets callers write again.
    fn hand_back(&self, writer: MutexGuard<'_, Writer>) {
        self.queue().for_thread = false;
        self.release(writer);
        self.drain();
    }

    /// Called by the trail's thread: waits for work. From its return on callers leave their
    /// records to the thread.
    fn next(&self) -> Option<Vec<Record>> {
        let mut queue = self.queue();
        loop {
            let left = queue.due.map(|due| due.saturating_duration_since(Instant::now()));
            if queue.for_thread || queue.closed || left == Some(Duration::ZERO) {
                queue.for_thread = true;
                let records = mem::take(&mut queue.records);
                return (!queue.closed || !records.is_empty()).then_some(records);
            }
            match left {
                Some(left) => {
                    self.wake.wait_for(&mut queue, left);
                }
                None => self.wake.wait(&mut queue),
            }
        }
    }

    pub(super) fn close(&self) {
        self.queue().closed = true;
        self.wake.notify_one();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock()
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.queue().records.len()
    }

    /// True if everything is synced and the trail's thread waits for work.
    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        let queue = self.queue();
        queue.due.is_none() && !queue.for_thread && queue.records.is_empty()
    }

    #[cfg(test)]
    pub(super) fn free_slots(&self) -> usize {
        self.slots.available_permits()
    }
}

impl Queue {
    /// True if there are records that a caller may write.
    fn is_for_callers(&self) -> bool {
        !self.for_thread && !self.records.is_empty()
    }
}

/// A caller that waits for its record.
struct Waiting {
    journal: Arc<Journal>,
    result: oneshot::Receiver<Result<(), Unwritten>>,
    /// True until the caller has yielded once; the queue is written after that.
    gathers: bool,
}

impl Waiting {
    /// The result, if it is known.
    fn result(&mut self) -> Option<Result<(), Unwritten>> {
        match self.result.try_recv() {
            Ok(result) => Some(result),
            Err(TryRecvError::Closed) => Some(Err(Unwritten)),
            Err(TryRecvError::Empty) => None,
        }
    }

    /// The result, if it is known after at most `yields` yields.
    async fn result_after(&mut self, yields: usize) -> Option<Result<(), Unwritten>> {
        let mut result = self.result();
        for _ in 0..yields {
            if result.is_some() {
                break;
            }
            yield_now().await;
            result = self.result().or_else(|| {
                self.journal.drain_gathered();
                self.result()
            });
            self.gathers = false;
        }
        result
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.gathers {
            self.journal.drain_gathered();
        }
    }
}
