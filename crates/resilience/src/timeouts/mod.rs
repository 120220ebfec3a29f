//! Time limits of calls: how long silence is tolerated, and how long a call may last at all.
//!
//! [`Timeouts`] are the settings of one server or one tool, [`CallTimer`] measures one call.
//! Progress starts the call limit anew, but never moves the ceiling: a server that reports
//! progress for ever is cut off all the same.

#[cfg(test)]
mod tests;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use super::{Moment, OutOfRange, within};

/// Time limits as given; they are checked by [`Timeouts::new`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeoutOptions {
    /// Until a connection is ready for calls, 1 ms to 1 h.
    pub connect: Duration,
    /// Until a call is answered or shows progress, 1 ms to `ceiling`.
    pub call: Duration,
    /// Until a call is answered, whatever its progress, 1 ms to 24 h.
    pub ceiling: Duration,
}

/// Time limits that make sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timeouts {
    options: TimeoutOptions,
}

/// The limits of one call. It is shared by reference: one side waits for its end, with a
/// [`Timer`](super::Timer), while the other reports progress.
#[derive(Debug)]
pub struct CallTimer {
    start: Moment,
    call: Duration,
    ceiling: Duration,
    /// When progress was last seen, in nanoseconds after `start`; it only grows.
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

    /// The same with another call limit, for a single tool.
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

    /// The call showed progress: its limit starts anew. After the end this changes nothing.
    pub fn progress(&self) {
        let now = Moment::now();
        if now < self.expires_at() {
            self.note(now);
        }
    }

    /// It was not the call that took its time: its limit starts anew, even if it has expired. The
    /// ceiling stays.
    pub fn renew(&self) {
        self.note(Moment::now());
    }

    fn note(&self, now: Moment) {
        // The ceiling is a day at most, far below the 584 years that fit.
        let nanos = u64::try_from((now - self.start).as_nanos()).unwrap_or(u64::MAX);
        self.progress.fetch_max(nanos, Ordering::Relaxed);
    }

    /// The limit that was reached; `None` while there is time left.
    pub fn expired(&self) -> Option<Expired> {
        (self.expires_at() <= Moment::now()).then(|| self.limit())
    }

    /// When the call ends unless progress comes.
    pub fn expires_at(&self) -> Moment {
        self.start + self.silence_ends().min(self.ceiling)
    }

    fn limit(&self) -> Expired {
        if self.silence_ends() <= self.ceiling {
            Expired::Call { limit: self.call }
        } else {
            Expired::Ceiling { limit: self.ceiling }
        }
    }

    /// When the call limit is reached, as a time after `start`.
    fn silence_ends(&self) -> Duration {
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
