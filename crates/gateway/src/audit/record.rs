//! A record that is queued for the trail.

use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// The record could not be written, or not in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unwritten;

/// The state that a record must reach before its caller continues.
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
    /// Receives the result, if the caller waits for it.
    pub(super) done: Option<oneshot::Sender<Result<(), Unwritten>>>,
    /// Released when the record is taken from the queue.
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
