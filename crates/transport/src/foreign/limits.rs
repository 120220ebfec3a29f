//! The limits of one fetch.

use std::time::Duration;

/// The limits of one fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchLimits {
    /// Size of the body, as it arrives and after decompression.
    pub body: usize,
    /// Time in which the head, and then each further [`PROGRESS`](Self::PROGRESS) bytes or the
    /// end of the body, must arrive.
    pub silence: Duration,
    /// Time of the whole fetch, redirects included.
    pub total: Duration,
    /// Redirects in a row.
    pub redirects: usize,
}

impl FetchLimits {
    /// Bytes that must arrive within [`silence`](Self::silence). A single byte now and then would
    /// otherwise keep a slow fetch alive.
    pub const PROGRESS: usize = 16 * 1024;
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            body: 10_000_000,
            silence: Duration::from_secs(30),
            total: Duration::from_mins(2),
            redirects: 5,
        }
    }
}
