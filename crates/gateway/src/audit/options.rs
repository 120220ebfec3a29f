//! The settings of an audit trail.

use super::{Redaction, Signing, record::Need};
use std::time::Duration;

/// The settings of an audit trail.
#[derive(Debug, Clone)]
pub struct Options {
    pub durability: Durability,
    /// Size at which the next segment begins.
    pub segment_bytes: u64,
    /// Most calls in flight or queued for writing; further calls wait.
    pub calls: usize,
    /// Timeout of writes, after which [`OnFailure`] applies.
    pub patience: Duration,
    /// If calls that may change something are refused while the trail cannot be written.
    pub mutating: OnFailure,
    /// The same for calls that only read.
    pub reading: OnFailure,
    pub redaction: Redaction,
    /// Signs the head of the trail.
    pub signing: Option<Signing>,
    #[cfg(test)]
    pub(super) faults: std::sync::Arc<super::faults::Faults>,
}

/// When records are synced to disk. Until then they are in the page cache, which survives the
/// process but not a power failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Before a call that may change something runs; all other records within a second.
    #[default]
    Sync,
    /// Within this time.
    Batch { interval: Duration },
}

/// The fate of a call that cannot be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    Refuse,
    Allow,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            segment_bytes: 64 * 1024 * 1024,
            calls: 8192,
            patience: Duration::from_secs(5),
            mutating: OnFailure::Refuse,
            reading: OnFailure::Allow,
            redaction: Redaction::default(),
            signing: None,
            #[cfg(test)]
            faults: std::sync::Arc::default(),
        }
    }
}

impl Durability {
    /// The state that the start record must reach before a call that may change something runs.
    pub(super) fn before_a_change(self) -> Need {
        match self {
            Self::Sync => Need::Synced,
            Self::Batch { .. } => Need::Written,
        }
    }

    /// Longest time a written record may stay unsynced.
    pub(super) fn interval(self) -> Duration {
        match self {
            Self::Sync => Duration::from_secs(1),
            Self::Batch { interval } => interval,
        }
    }
}
