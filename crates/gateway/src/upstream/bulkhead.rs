//! Bulkhead: a limit of calls in flight and of calls queued; further calls are refused at once.

use super::options::BulkheadOptions;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use trunkline_resilience::timeout;

#[derive(Debug)]
pub(super) struct Bulkhead {
    slots: Arc<Semaphore>,
    waiting: AtomicUsize,
    options: BulkheadOptions,
}

/// The reason why a call gets no slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Full {
    #[error("no slot is free; calls in flight: {running}, queued: {waiting}")]
    Queue { running: usize, waiting: usize },
    #[error("no call slot became free within {0:?}")]
    Wait(std::time::Duration),
}

/// A position in the queue, released when the call gets its slot or is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Bulkhead {
    pub(super) fn new(options: BulkheadOptions) -> Self {
        let slots = options.concurrency.min(Semaphore::MAX_PERMITS);
        Self { slots: Arc::new(Semaphore::new(slots)), waiting: AtomicUsize::new(0), options }
    }

    /// A slot, if one is free.
    pub(super) fn try_enter(&self) -> Option<OwnedSemaphorePermit> {
        self.slots.clone().try_acquire_owned().ok()
    }

    /// Waits for a slot, unless the queue is full.
    pub(super) async fn enter(&self) -> Result<OwnedSemaphorePermit, Full> {
        if let Some(slot) = self.try_enter() {
            return Ok(slot);
        }
        let queue = self.options.queue;
        let join = |waiting: usize| (waiting < queue).then_some(waiting + 1);
        if self.waiting.fetch_update(Ordering::AcqRel, Ordering::Acquire, join).is_err() {
            return Err(Full::Queue { running: self.options.concurrency, waiting: queue });
        }
        let _place = Waiting(&self.waiting);
        match timeout(self.options.wait, self.slots.clone().acquire_owned()).await {
            Some(Ok(slot)) => Ok(slot),
            Some(Err(_)) | None => Err(Full::Wait(self.options.wait)),
        }
    }

    pub(super) fn running(&self) -> usize {
        self.options.concurrency.saturating_sub(self.slots.available_permits())
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
