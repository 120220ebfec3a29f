//! A record on its way to the trail.

use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// The trail could not be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unwritten;

/// What must have happened to a record before the caller that waits for it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Written,
    Synced,
}

#[derive(Debug)]
pub(super) struct Record {
    pub(super) members: String,
    /// When it was made.
    pub(super) at: Instant,
    pub(super) need: Need,
    /// Tells the caller that waits for it.
    pub(super) done: Option<oneshot::Sender<Result<(), Unwritten>>>,
    /// Given back when the record is taken.
    pub(super) slot: Option<OwnedSemaphorePermit>,
}

impl Record {
    pub(super) fn new(members: String, at: Instant) -> Self {
        Self { members, at, need: Need::Written, done: None, slot: None }
    }

    pub(super) fn holding(self, slot: OwnedSemaphorePermit) -> Self {
        Self { slot: Some(slot), ..self }
    }
}
