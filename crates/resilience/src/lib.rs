//! Protects callers from a failing server: circuit breaker, retries, timeouts and rate limits, and
//! the clock that they use; protects the process from too many large messages.
//!
//! The parts are independent of each other and of the transport: the caller reports the outcome of
//! each call. On the path to a healthy server, none takes a lock for which calls on other threads
//! wait. The usual order around a call, from the outside in: [`CallTimer`] (all attempts
//! together), [`Retry`], [`Breaker`] (each attempt).

mod breaker;
mod clock;
mod fair;
mod log_throttle;
mod memory;
mod rate_limiter;
mod retry;
mod timeouts;

use std::{fmt, ops::RangeInclusive};

pub use breaker::{Admission, Breaker, BreakerCounts, BreakerOptions, BreakerState, Refused};
pub use clock::{Deadline, IdleTimer, Moment, Timer, timeout, timeout_at};
pub use fair::{FairSlot, FairSlots, Turns};
pub use log_throttle::LogThrottle;
pub use memory::{
    Backlog, OutOfMemory, Purpose, Reservation, hold, hold_reserved, large_release, reserved_memory,
    set_memory_limit,
};
pub use rate_limiter::{Quota, RateLimiter, TooSoon, Usage};
pub use retry::{Jitter, Retry, RetryOptions, Safety, Verdict};
pub use timeouts::{CallTimer, Expired, TimeoutOptions, Timeouts};

/// A setting is out of range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{setting} is {given}, but must lie between {least} and {most}")]
pub struct OutOfRange {
    pub setting: &'static str,
    pub given: String,
    pub least: String,
    pub most: String,
}

/// Returns `given` if it is within `bounds`.
pub fn within<T: Copy + PartialOrd + fmt::Debug>(
    setting: &'static str,
    given: T,
    bounds: RangeInclusive<T>,
) -> Result<T, OutOfRange> {
    let (least, most) = bounds.into_inner();
    if least <= given && given <= most {
        return Ok(given);
    }
    Err(OutOfRange {
        setting,
        given: format!("{given:?}"),
        least: format!("{least:?}"),
        most: format!("{most:?}"),
    })
}
