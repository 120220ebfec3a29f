//! Time limits of calls: how long silence is borne, and how long a call may last at all.
//!
//! [`Timeouts`] are the settings of one server or one tool, [`Deadline`] is the clock of one call. Progress starts the
//! call limit anew, but never moves the ceiling: a server that reports progress for ever is cut off all the same. A pause of
//! this process counts towards neither.

#[cfg(test)]
mod tests;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    OutOfRange,
    pause::{self, Mark},
    within,
};

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

/// When a call began. Pauses since then are none of its time.
#[derive(Debug, Clone, Copy)]
pub struct Beginning {
    at: Instant,
    mark: Mark,
}

/// The clock of one call. It is shared by reference: one side waits for its end, with a [`Reminder`](super::Reminder), while the
/// other reports progress.
#[derive(Debug)]
pub struct Deadline {
    start: Instant,
    call: Duration,
    ceiling: Duration,
    /// When progress was last seen, in nanoseconds after `start`, without pauses; it only grows.
    progress: AtomicU64,
    /// Pauses after it are left out.
    mark: Mark,
}

/// A call ran out of time; which limit it was.
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

impl Beginning {
    pub fn now() -> Self {
        Self::at(Instant::now())
    }

    /// A moment that was just now.
    pub fn at(at: Instant) -> Self {
        Self { at, mark: Mark::set() }
    }

    pub fn instant(self) -> Instant {
        self.at
    }
}

impl Deadline {
    /// Starts the clock with the call.
    pub fn start_at(timeouts: &Timeouts, start: Beginning) -> Self {
        let (call, ceiling) = (timeouts.call(), timeouts.ceiling());
        Self { start: start.at, call, ceiling, progress: AtomicU64::new(0), mark: start.mark }
    }

    /// The call showed progress: its limit starts anew. After the end this changes nothing.
    pub fn progress(&self) {
        let now = Instant::now();
        if now < self.expires_at() {
            self.note(now);
        }
    }

    /// It was not the call that took its time: its limit starts anew, even if it is over. The ceiling stays.
    pub fn renew(&self) {
        self.note(Instant::now());
    }

    fn note(&self, now: Instant) {
        // The ceiling is a day at most, far below the 584 years that fit.
        let nanos = u64::try_from((now - self.start).as_nanos()).unwrap_or(u64::MAX);
        self.progress.fetch_max(nanos.saturating_sub(self.mark.missed()), Ordering::Relaxed);
    }

    /// Which limit struck; `None` while there is time left.
    pub fn struck(&self) -> Option<Expired> {
        if self.expires_at() > Instant::now() {
            return None;
        }
        // Perhaps nobody has noticed yet that the process paused.
        pause::look();
        (self.expires_at() <= Instant::now()).then(|| self.limit())
    }

    /// When the call ends unless progress, or a pause, comes.
    pub fn expires_at(&self) -> Instant {
        let end = self.start + self.silence_ends().min(self.ceiling);
        match self.mark.missed() {
            0 => end,
            missed => end + Duration::from_nanos(missed),
        }
    }

    fn limit(&self) -> Expired {
        if self.silence_ends() <= self.ceiling {
            Expired::Call { limit: self.call }
        } else {
            Expired::Ceiling { limit: self.ceiling }
        }
    }

    /// When the call limit strikes, as a time after `start` without pauses.
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
