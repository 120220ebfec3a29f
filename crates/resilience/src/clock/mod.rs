//! The clock that time limits go by. It stands still while the process is suspended.
//!
//! A suspended process (SIGSTOP, a frozen container, a paused virtual machine) finds on resuming
//! that the system's clock went on without it: every timer is due at once, although no peer was
//! too slow. So limits and idle times are measured in [`Moment`]s, which leave suspended time out,
//! and users of this module need not know about suspension at all:
//!
//! - [`Moment::now`] and [`Moment::elapsed`] measure time.
//! - [`timeout`] and [`timeout_at`] give up a future that takes too long.
//! - [`Deadline`] is a future that is ready at a moment, [`Timer`] the same for a moment that may
//!   still change, and [`IdleTimer`] a timer for a connection that waits for its peer.
//!
//! `tokio::time` is for backoff and for waits whose end hurts nobody.

mod idle_timer;
mod suspension;
mod timer;

use std::{
    ops::{Add, Sub},
    time::Duration,
};
use tokio::time::Instant;

pub use idle_timer::IdleTimer;
#[cfg(test)]
pub(crate) use suspension::pretend;
pub use timer::{Deadline, Timer, timeout, timeout_at};

/// A point in time, on a clock that stands still while the process is suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(Instant);

impl Moment {
    pub fn now() -> Self {
        let now = Instant::now();
        Self(now - suspension::total_at(now))
    }

    /// The time since then; zero for a moment that is still to come.
    pub fn elapsed(self) -> Duration {
        Self::now() - self
    }

    /// The system's time at which this moment comes, unless the process is suspended before it.
    pub fn instant(self) -> Instant {
        self.0 + suspension::total()
    }
}

/// The moment at which the system's clock shows that time.
impl From<Instant> for Moment {
    fn from(instant: Instant) -> Self {
        Self(instant - suspension::total())
    }
}

impl From<std::time::Instant> for Moment {
    fn from(instant: std::time::Instant) -> Self {
        Instant::from_std(instant).into()
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self(self.0 + time)
    }
}

/// The time between two moments; zero if the second one is the later.
impl Sub for Moment {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }
}
