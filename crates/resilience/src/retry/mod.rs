//! Repeats a call that failed for the moment, with growing and jittered pauses, where a repeat is safe.
//!
//! Three things must agree before a call is repeated: the caller says it may be ([`Safety`]), the error says it may help
//! ([`Verdict`]), and attempts and budget are left. Otherwise the last error is the result. The budget bounds when an
//! attempt may begin; how long one takes is the business of a [`Deadline`](super::Deadline) around it.

mod jitter;
#[cfg(test)]
mod tests;

use std::{future::Future, time::Duration};

use tokio::time::{Instant, sleep};

use super::{OutOfRange, within};
use jitter::Dice;

/// The numbers of a [`Retry`]; they are checked by [`Retry::new`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryOptions {
    /// How often a call is made at most, the first time included, 1 to 20.
    pub attempts: u32,
    /// The pause after the first failure, before jitter. 1 ms to 1 min.
    pub base: Duration,
    /// How many times as long each further pause is, 1 to 10.
    pub factor: u32,
    /// The longest pause, before jitter, `base` to 10 min.
    pub ceiling: Duration,
    /// After this time no attempt begins, at most 1 h.
    pub budget: Duration,
    pub jitter: Jitter,
}

/// Which part of a pause is left to chance, so that callers who failed together do not come back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Jitter {
    /// Between nothing and the whole pause.
    #[default]
    Full,
    /// Between half the pause and the whole.
    Equal,
}

/// Whether making a call twice does the same as making it once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Safety {
    /// Reads, lists, and tools that say they are idempotent.
    Repeatable,
    /// Everything else: repeated only if the server certainly has not seen it.
    AtMostOnce,
}

/// What an error means for another attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The failure may pass, but the server may have acted.
    Retry,
    /// The same, and the server asked not to come back before this time.
    RetryAfter(Duration),
    /// The server has not begun the call (no connection, over its rate): a repeat is safe, whatever the call does.
    Unstarted { after: Option<Duration> },
    /// Another attempt would fail as well.
    GiveUp,
}

/// The policy for repeating calls.
#[derive(Debug)]
pub struct Retry {
    options: RetryOptions,
    dice: Dice,
}

impl Retry {
    pub fn new(options: RetryOptions) -> Result<Self, OutOfRange> {
        Self::seeded(options, uuid::Uuid::new_v4().as_u64_pair().0)
    }

    /// A policy whose pauses are the same in every run.
    pub fn seeded(options: RetryOptions, seed: u64) -> Result<Self, OutOfRange> {
        Ok(Self { options: options.checked()?, dice: Dice::new(seed) })
    }

    /// Calls `attempt`, which is given its number (from 1), until it succeeds or another attempt is out of question.
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
            tracing::debug!(attempt = number, ?pause, "call failed, another attempt follows");
            sleep(pause).await;
            number += 1;
        }
    }

    /// The pause after so many failures in a row, with jitter; also for loops of their own, such as reconnecting.
    pub fn backoff(&self, failures: u32) -> Duration {
        let grown = self.options.factor.saturating_pow(failures.saturating_sub(1));
        let whole = self.options.base.saturating_mul(grown).min(self.options.ceiling);
        match self.options.jitter {
            Jitter::Full => self.dice.up_to(whole),
            Jitter::Equal => whole / 2 + self.dice.up_to(whole / 2),
        }
    }

    /// How long to wait before the next attempt, if there is one.
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
        // The jitter comes on top of the time the server asked for: it may have asked many callers for the same.
        let pause = asked.saturating_add(self.backoff(made));
        (elapsed.saturating_add(pause) <= self.options.budget).then_some(pause)
    }
}

impl RetryOptions {
    fn checked(self) -> Result<Self, OutOfRange> {
        within("retry attempts", self.attempts, 1..=20)?;
        within("retry base pause", self.base, Duration::from_millis(1)..=Duration::from_mins(1))?;
        within("retry growth of pauses", self.factor, 1..=10)?;
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
