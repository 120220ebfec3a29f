//! The health of the trail.

use parking_lot::{Mutex, MutexGuard};
use std::sync::atomic::{AtomicU64, Ordering};

/// The health of the trail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// The error, while nothing can be written.
    pub failing: Option<String>,
    /// Writes and syncs that failed.
    pub failures: u64,
    /// The number of the last record.
    pub records: u64,
}

/// The status, and the number of lost records that no record mentions yet.
#[derive(Debug, Default)]
pub(super) struct Health {
    lost: AtomicU64,
    status: Mutex<Status>,
}

impl Health {
    /// Counts a record that could not be kept.
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
        self.status.lock()
    }
}
