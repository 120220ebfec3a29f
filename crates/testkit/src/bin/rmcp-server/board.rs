//! What the handlers of one process share: over HTTP every session, and every modern request, has a handler of its own.

use rmcp::task_manager::TaskManager;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{broadcast, watch};

/// Changes kept for a listener that is slow.
const CHANGE_QUEUE: usize = 64;

pub(crate) struct Board {
    /// Calls and tasks that were told to stop.
    pub(crate) cancelled: watch::Sender<u64>,
    pub(crate) changes: broadcast::Sender<Change>,
    pub(crate) tasks: TaskManager,
    grown: AtomicBool,
}

/// What those who listen hear of.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Tools,
    Resource(String),
}

impl Board {
    /// From now on there is one more tool.
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

impl Default for Board {
    fn default() -> Self {
        Self {
            cancelled: watch::Sender::new(0),
            changes: broadcast::Sender::new(CHANGE_QUEUE),
            tasks: TaskManager::new(),
            grown: AtomicBool::new(false),
        }
    }
}
