//! How a trail is kept.

use super::{Redaction, record::Need};
use std::time::Duration;

/// How a trail is kept.
#[derive(Debug, Clone)]
pub struct Options {
    pub durability: Durability,
    /// Size at which a segment is followed by the next.
    pub segment_bytes: u64,
    /// Calls that may be under way or wait to be written; the next one waits.
    pub calls: usize,
    /// Longest wait for the disk before a call goes the way of [`OnFailure`].
    pub patience: Duration,
    /// The policy for calls that may change something while the trail cannot be written.
    pub mutating: OnFailure,
    /// The same for calls that only read.
    pub reading: OnFailure,
    pub redaction: Redaction,
    #[cfg(test)]
    pub(super) faults: std::sync::Arc<super::faults::Faults>,
}

/// When records are synced to the disk. Until then they are in the system's memory, which outlives
/// the process, but not a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Before a call that may change something runs; everything else within a second.
    #[default]
    Sync,
    /// Within this time.
    Batch { interval: Duration },
}

/// The policy for a call that cannot be recorded.
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
            #[cfg(test)]
            faults: std::sync::Arc::default(),
        }
    }
}

impl Durability {
    /// How firmly the start record of a call that may change something is kept before it runs.
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
