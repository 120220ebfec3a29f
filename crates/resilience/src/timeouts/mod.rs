//! Time limits of calls: the maximum time without progress, and the maximum total duration.
//!
//! [`Timeouts`] are the settings of one server or one tool, [`CallTimer`] measures one call.
//! Progress restarts the call limit but never moves the ceiling, so a server that reports progress
//! for ever is still cut off.

#[cfg(test)]
mod tests;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use super::{Moment, OutOfRange, within};

/// Unchecked time limits. [`Timeouts::new`] checks them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeoutOptions {
    /// Until a connection is ready for calls, 1 ms to 1 h.
    pub connect: Duration,
    /// Until a call is answered or shows progress, 1 ms to `ceiling`.
    pub call: Duration,
    /// Until a call is answered, whatever its progress, 1 ms to 24 h.
    pub ceiling: Duration,
}

/// Valid time limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timeouts {
    options: TimeoutOptions,
}

/// The limits of one call. It is shared by reference: one task waits for the expiry with a
/// [`Timer`](super::Timer) while another reports progress.
#[derive(Debug)]
pub struct CallTimer {
    start: Moment,
    call: Duration,
    ceiling: Duration,
    /// Time of the last progress, in nanoseconds after `start`; it only increases.
    progress: AtomicU64,
}

/// The limit that a call reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Expired {
    #[error("no answer and no progress within {limit:?}")]
    Call { limit: Duration },
    #[error("no answer within {limit:?}, the longest a call may take")]
    Ceiling { limit: Duration },
}

const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST_CONNECT: Duration = Duration::from_hours(1);
const LONGEST_CEILING: Duration = Duration::from_hours(24);

impl Timeouts {
    pub fn new(options: TimeoutOptions) -> Result<Self, OutOfRange> {
        within("connect timeout", options.connect, SHORTEST..=LONGEST_CONNECT)?;
        within("timeout ceiling", options.ceiling, SHORTEST..=LONGEST_CEILING)?;
        within("call timeout", options.call, SHORTEST..=options.ceiling)?;
        Ok(Self { options })
    }

    /// These limits with another call limit, for a single tool.
    pub fn with_call(self, call: Duration) -> Result<Self, OutOfRange> {
        Self::new(TimeoutOptions { call, ..self.options })
    }

    pub fn connect(&self) -> Duration {
        self.options.connect
    }

    pub fn call(&self) -> Duration {
        self.options.call
    }

    pub fn ceiling(&self) -> Duration {
        self.options.ceiling
    }
}

impl CallTimer {
    pub fn start_at(timeouts: &Timeouts, start: Moment) -> Self {
        let (call, ceiling) = (timeouts.call(), timeouts.ceiling());
        Self { start, call, ceiling, progress: AtomicU64::new(0) }
    }

    /// Reports progress, which restarts the call limit. No effect after expiry.
    pub fn progress(&self) {
        let now = Moment::now();
        if now < self.expires_at() {
            self.record_progress(now);
        }
    }

    /// Restarts the call limit even if it has expired, because the delay was not caused by the
    /// call. The ceiling stays.
    pub fn renew(&self) {
        self.record_progress(Moment::now());
    }

    fn record_progress(&self, now: Moment) {
        // The ceiling is a day at most, far below the 584 years that fit.
        let nanos = u64::try_from((now - self.start).as_nanos()).unwrap_or(u64::MAX);
        self.progress.fetch_max(nanos, Ordering::Relaxed);
    }

    /// The limit that was reached; `None` while there is time left.
    pub fn expired(&self) -> Option<Expired> {
        (self.expires_at() <= Moment::now()).then(|| self.limit())
    }

    /// The time at which the call expires unless there is progress.
    pub fn expires_at(&self) -> Moment {
        self.start + self.call_limit_ends().min(self.ceiling)
    }

    fn limit(&self) -> Expired {
        if self.call_limit_ends() <= self.ceiling {
            Expired::Call { limit: self.call }
        } else {
            Expired::Ceiling { limit: self.ceiling }
        }
    }

    /// The time at which the call limit is reached, relative to `start`.
    fn call_limit_ends(&self) -> Duration {
        Duration::from_nanos(self.progress.load(Ordering::Relaxed)) + self.call
    }
}

impl Default for TimeoutOptions {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            call: Duration::from_mins(1),
            ceiling: Duration::from_mins(10),
        }
    }
}
