//! Ledger: the queue and its writer, and who of all that come and go does the writing.

use super::{
    queue::{Entry, Next, Queue, Turn, Unwritten},
    writer::Writer,
};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::oneshot;

#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) queue: Arc<Queue>,
    /// Locked only by whoever has the turn, so nobody waits for it.
    writer: Mutex<Writer>,
}

/// Whoever has the turn. However it goes away, what gathered is written.
struct Lead<'a>(&'a Ledger);

impl Ledger {
    pub(super) fn new(queue: Arc<Queue>, writer: Writer) -> Self {
        Self { queue, writer: Mutex::new(writer) }
    }

    /// Puts a record in that nobody waits for.
    pub(super) fn put(&self, entry: Entry) {
        if self.queue.push(entry) == Turn::Mine {
            drop(Lead(self));
        }
    }

    /// Puts a record in and waits until it is written, or synced if it needs that, for as long as `patience` lasts.
    pub(super) async fn write(&self, mut entry: Entry, patience: Duration) -> Result<(), Unwritten> {
        let (told, mut heard) = oneshot::channel();
        entry.told = Some(told);
        if self.queue.push(entry) == Turn::Mine {
            let lead = Lead(self);
            if !self.queue.is_for_one() {
                // Others who are ready to run put their records in, and one write does for all.
                tokio::task::yield_now().await;
            }
            drop(lead);
            if let Ok(result) = heard.try_recv() {
                return result;
            }
        }
        match tokio::time::timeout(patience, heard).await {
            Ok(Ok(result)) => result,
            _ => Err(Unwritten),
        }
    }

    /// What the trail's thread does, until the queue is closed and empty.
    pub(super) fn run(&self) {
        loop {
            let syncing = match self.queue.next() {
                Next::Write(entries) => self.with(|writer| writer.commit(entries)),
                Next::Sync => self.with(|writer| writer.commit(Vec::new())),
                Next::Stop => return self.with(Writer::finish),
            };
            if let Some(syncing) = syncing {
                // Nobody has to wait for this disk but those who want to.
                self.drain();
                let result = syncing.run();
                self.queue.retake();
                self.with(|writer| writer.end_sync(syncing, result));
            }
            self.queue.sync_by(self.with(|writer| writer.due()));
            self.drain();
        }
    }

    /// Writes until nothing is left, or only what the thread must do, and gives the turn back.
    fn drain(&self) {
        self.with(|writer| {
            loop {
                if writer.needs_thread() {
                    return self.queue.leave();
                }
                match self.queue.take() {
                    Some(entries) => writer.write_quickly(entries),
                    None => return,
                }
            }
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut Writer) -> T) -> T {
        work(&mut self.writer.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        self.0.drain();
    }
}
