//! State that all handlers of one process share: over HTTP every session, and every modern
//! request, has its own handler.

use rmcp::task_manager::TaskManager;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{broadcast, watch};

/// Changes queued for a slow listener.
const CHANGE_QUEUE: usize = 64;

pub(crate) struct SharedState {
    /// Number of cancelled calls and tasks.
    pub(crate) cancelled: watch::Sender<u64>,
    pub(crate) changes: broadcast::Sender<Change>,
    pub(crate) tasks: TaskManager,
    grown: AtomicBool,
}

/// A change that is announced to listeners.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Tools,
    Resource(String),
}

impl SharedState {
    /// Adds one more tool to the list.
    pub(crate) fn grow(&self) {
        self.grown.store(true, Ordering::Release);
    }

    pub(crate) fn has_grown(&self) -> bool {
        self.grown.load(Ordering::Acquire)
    }

    pub(crate) fn count_cancelled(&self) {
        self.cancelled.send_modify(|count| *count += 1);
    }
}

impl Default for SharedState {
    fn default() -> Self {
        Self {
            cancelled: watch::Sender::new(0),
            changes: broadcast::Sender::new(CHANGE_QUEUE),
            tasks: TaskManager::new(),
            grown: AtomicBool::new(false),
        }
    }
}
