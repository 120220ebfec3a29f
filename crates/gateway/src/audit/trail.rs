//! Trail: the handle to a trail that is being written.

use super::{
    OpenError, Options, Status,
    disk::Disk,
    ledger::Ledger,
    members::{CallId, Members},
    queue::{Entry, Need, Queue},
    recover,
    redact::mask,
    writer::Writer,
};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Instant,
};
use tokio::sync::OwnedSemaphorePermit;
use trunkline_protocol::{Fault, FaultKind};
use trunkline_resilience::timeout;

/// A trail that is open for writing. Clones share it; the last one to go waits until everything is on disk.
#[derive(Debug, Clone)]
pub struct Trail(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    ledger: Arc<Ledger>,
    options: Options,
    /// Tells the calls of this process from those of others.
    process: String,
    calls: AtomicU64,
    writer: Option<JoinHandle<()>>,
}

impl Trail {
    /// Opens the trail in `dir`, which is made if need be, and goes on where it ended.
    pub fn open(dir: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        let dir = dir.as_ref();
        let failed = |error| OpenError::Io(dir.to_owned(), error);
        let disk = Disk::open(dir)?;
        #[cfg(test)]
        let disk = disk.with_faults(&options.faults);
        let mut recovered = recover::recover(&disk, dir)?;
        let endings = std::mem::take(&mut recovered.endings);
        let queue = Arc::new(Queue::new(&options));
        let writer = Writer::start(disk, recovered, Arc::clone(&queue), &options).map_err(failed)?;
        let ledger = Arc::new(Ledger::new(queue, writer));
        for members in endings {
            ledger.put(Entry { members, at: Instant::now(), need: Need::Written, told: None, slot: None });
        }
        let shared = Arc::clone(&ledger);
        let writer =
            thread::Builder::new().name("audit".to_owned()).spawn(move || shared.run()).map_err(failed)?;
        let process = uuid::Uuid::new_v4().simple().to_string()[..8].to_owned();
        Ok(Self(Arc::new(Inner { ledger, options, process, calls: AtomicU64::new(0), writer: Some(writer) })))
    }

    /// Records something that is not a call, such as a refused token. `what` is a word for programs.
    pub fn event(&self, what: &str, caller: &str, detail: &str) {
        let queue = &self.0.ledger.queue;
        let Ok(slot) = Arc::clone(&queue.slots).try_acquire_owned() else {
            queue.lose();
            return;
        };
        let members = Members::new("event")
            .text("what", what)
            .text("caller", caller)
            .text("detail", &mask(detail))
            .finish();
        self.0.ledger.put(Entry {
            members,
            at: Instant::now(),
            need: Need::Written,
            told: None,
            slot: Some(slot),
        });
    }

    /// How the trail is doing, for health checks and metrics.
    pub fn status(&self) -> Status {
        self.0.ledger.queue.status().clone()
    }

    pub(super) fn options(&self) -> &Options {
        &self.0.options
    }

    pub(super) fn ledger(&self) -> &Arc<Ledger> {
        &self.0.ledger
    }

    /// A slot, if there is one now.
    pub(super) fn slot(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0.ledger.queue.slots).try_acquire_owned().ok()
    }

    /// Waits for a slot.
    pub(super) async fn next_slot(self) -> Result<OwnedSemaphorePermit, Fault> {
        let queue = &self.0.ledger.queue;
        let slots = Arc::clone(&queue.slots);
        let slot = timeout(self.0.options.patience, slots.acquire_owned()).await;
        let Some(Ok(slot)) = slot else {
            queue.lose();
            let text = "the audit trail cannot keep up; try again later";
            return Err(Fault::new(FaultKind::Overloaded, text));
        };
        Ok(slot)
    }

    /// What tells a new call from all others.
    pub(super) fn next_id(&self) -> CallId<'_> {
        CallId::Made { process: &self.0.process, number: self.0.calls.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.ledger.queue.close();
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!("ALARM: the writer of the audit trail panicked");
        }
    }
}
