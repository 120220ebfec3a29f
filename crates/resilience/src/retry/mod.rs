//! Retries a call after a transient failure, with exponential backoff and jitter, if a retry is
//! safe.
//!
//! A call is retried if the caller allows it ([`Safety`]), the error may be transient
//! ([`Verdict`]), and attempts and budget are left. Otherwise the last error is the result. The
//! budget limits when an attempt may begin; a [`Deadline`](super::Deadline) around it limits its
//! duration.

mod jitter;
#[cfg(test)]
mod tests;

use std::{future::Future, time::Duration};

use tokio::time::{Instant, sleep};

use super::{OutOfRange, within};
use jitter::SplitMix64;

/// The settings of a [`Retry`]. [`Retry::new`] checks them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryOptions {
    /// Maximum number of attempts, including the first, 1 to 20.
    pub attempts: u32,
    /// The pause after the first failure, before jitter. 1 ms to 1 min.
    pub base: Duration,
    /// Factor by which each further pause grows, 1 to 10.
    pub factor: u32,
    /// The longest pause, before jitter, `base` to 10 min.
    pub ceiling: Duration,
    /// Time after which no further attempt begins, at most 1 h.
    pub budget: Duration,
    pub jitter: Jitter,
}

/// The random part of a pause, so that callers that failed together do not retry together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Jitter {
    /// Between zero and the whole pause.
    #[default]
    Full,
    /// Between half the pause and the whole.
    Equal,
}

/// Says if a call may safely be made twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Safety {
    /// Reads, lists, and tools that are declared idempotent.
    Repeatable,
    /// All other calls: retried only if the server certainly has not started them.
    AtMostOnce,
}

/// The consequence of an error for another attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The failure may be transient, but the server may have executed the call.
    Retry,
    /// Like `Retry`, and the server asked to wait at least this long.
    RetryAfter(Duration),
    /// The server has not started the call (no connection, rate limit), so a retry is safe for any
    /// call.
    Unstarted { after: Option<Duration> },
    /// Another attempt would fail as well.
    GiveUp,
}

/// The retry policy.
#[derive(Debug)]
pub struct Retry {
    options: RetryOptions,
    rng: SplitMix64,
}

impl Retry {
    pub fn new(options: RetryOptions) -> Result<Self, OutOfRange> {
        Self::seeded(options, uuid::Uuid::new_v4().as_u64_pair().0)
    }

    /// A policy whose pauses are the same in every run.
    pub fn seeded(options: RetryOptions, seed: u64) -> Result<Self, OutOfRange> {
        Ok(Self { options: options.checked()?, rng: SplitMix64::new(seed) })
    }

    /// Calls `attempt` with its number (from 1) until it succeeds or no retry is allowed.
    pub async fn run<T, E, F, A>(
        &self,
        safety: Safety,
        judge: impl Fn(&E) -> Verdict,
        mut attempt: F,
    ) -> Result<T, E>
    where
        F: FnMut(u32) -> A,
        A: Future<Output = Result<T, E>>,
    {
        let start = Instant::now();
        let mut number = 1;
        loop {
            let error = match attempt(number).await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let Some(pause) = self.pause(safety, judge(&error), number, start.elapsed()) else {
                return Err(error);
            };
            tracing::debug!(attempt = number, ?pause, "call failed, retrying");
            sleep(pause).await;
            number += 1;
        }
    }

    /// The pause with jitter after this many consecutive failures. Also used by callers with their
    /// own loop, such as reconnecting.
    pub fn backoff(&self, failures: u32) -> Duration {
        let grown = self.options.factor.saturating_pow(failures.saturating_sub(1));
        let whole = self.options.base.saturating_mul(grown).min(self.options.ceiling);
        match self.options.jitter {
            Jitter::Full => self.rng.up_to(whole),
            Jitter::Equal => whole / 2 + self.rng.up_to(whole / 2),
        }
    }

    /// The pause before the next attempt; `None` if no retry is allowed.
    fn pause(&self, safety: Safety, verdict: Verdict, made: u32, elapsed: Duration) -> Option<Duration> {
        let asked = match (verdict, safety) {
            (Verdict::GiveUp, _) | (Verdict::Retry | Verdict::RetryAfter(_), Safety::AtMostOnce) => {
                return None;
            }
            (Verdict::Retry, Safety::Repeatable) => Duration::ZERO,
            (Verdict::RetryAfter(after), Safety::Repeatable) => after,
            (Verdict::Unstarted { after }, _) => after.unwrap_or_default(),
        };
        if made >= self.options.attempts {
            return None;
        }
        // The jitter is added to the time that the server asked for, since it may have asked many
        // callers for the same time.
        let pause = asked.saturating_add(self.backoff(made));
        (elapsed.saturating_add(pause) <= self.options.budget).then_some(pause)
    }
}

impl RetryOptions {
    fn checked(self) -> Result<Self, OutOfRange> {
        within("retry attempts", self.attempts, 1..=20)?;
        within("retry base pause", self.base, Duration::from_millis(1)..=Duration::from_mins(1))?;
        within("retry factor", self.factor, 1..=10)?;
        within("retry longest pause", self.ceiling, self.base..=Duration::from_mins(10))?;
        within("retry budget", self.budget, Duration::ZERO..=Duration::from_hours(1))?;
        Ok(self)
    }
}

impl Default for RetryOptions {
    fn default() -> Self {
        Self {
            attempts: 3,
            base: Duration::from_millis(200),
            factor: 2,
            ceiling: Duration::from_secs(10),
            budget: Duration::from_secs(30),
            jitter: Jitter::Full,
        }
    }
}
