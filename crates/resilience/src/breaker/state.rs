//! The breaker's state machine, without locks and clocks.

use std::{
    fmt::{self, Write},
    sync::Arc,
};

use tokio::time::Instant;

use super::{BreakerCounts, BreakerOptions, BreakerState, Refused};

/// The state of a breaker; changed only under its lock.
pub(super) struct StateMachine {
    /// Grows with every transition.
    pub(super) generation: u64,
    pub(super) failures: u32,
    pub(super) last_error: Arc<str>,
    pub(super) counts: BreakerCounts,
    phase: Phase,
    /// The time at which the breaker last left `Closed`.
    since: Instant,
}

/// The outcome of an admitted call.
pub(super) enum Outcome {
    Succeeded,
    Failed(Arc<str>),
    Abandoned,
}

pub(super) enum Pass {
    Ordinary,
    Trial,
}

enum Phase {
    Closed,
    Open { until: Instant },
    HalfOpen { running: u32, granted: Instant },
}

impl StateMachine {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            generation: 0,
            failures: 0,
            last_error: Arc::from(""),
            counts: BreakerCounts::default(),
            phase: Phase::Closed,
            since: now,
        }
    }

    pub(super) fn state(&self) -> BreakerState {
        match self.phase {
            Phase::Closed => BreakerState::Closed { failures: self.failures },
            Phase::Open { until } => BreakerState::Open { since: self.since, until },
            Phase::HalfOpen { .. } => BreakerState::HalfOpen { since: self.since },
        }
    }

    /// Admits or refuses a call that begins now.
    pub(super) fn admit(&mut self, options: &BreakerOptions, now: Instant) -> Result<Pass, Refused> {
        if let Some(refused) = self.refusal(options, now) {
            self.counts.refused += 1;
            return Err(refused);
        }
        match &mut self.phase {
            Phase::Closed => Ok(Pass::Ordinary),
            Phase::Open { .. } => {
                self.enter(Phase::HalfOpen { running: 1, granted: now });
                self.counts.half_opened += 1;
                Ok(Pass::Trial)
            }
            Phase::HalfOpen { running, granted } => {
                *running += 1;
                *granted = now;
                Ok(Pass::Trial)
            }
        }
    }

    /// Applies the outcome of a call that this generation admitted.
    pub(super) fn settle(&mut self, options: &BreakerOptions, outcome: Outcome, now: Instant) {
        match (&mut self.phase, outcome) {
            (Phase::Closed, Outcome::Succeeded) => self.failures = 0,
            (Phase::Closed, Outcome::Failed(error)) => {
                self.fail(error);
                if self.failures >= options.failures {
                    self.since = now;
                    self.counts.opened += 1;
                    self.enter(Phase::Open { until: now + options.open_for });
                }
            }
            (Phase::HalfOpen { .. }, Outcome::Succeeded) => {
                self.failures = 0;
                self.counts.closed += 1;
                self.enter(Phase::Closed);
            }
            (Phase::HalfOpen { .. }, Outcome::Failed(error)) => {
                self.fail(error);
                self.counts.reopened += 1;
                self.enter(Phase::Open { until: now + options.open_for });
            }
            (Phase::HalfOpen { running, .. }, Outcome::Abandoned) => *running = running.saturating_sub(1),
            // `Open` admits no calls, and a further failure does not prolong it.
            (Phase::Closed, Outcome::Abandoned) | (Phase::Open { .. }, _) => {}
        }
    }

    pub(super) fn allow_trial(&mut self, now: Instant) {
        if let Phase::Open { until } = &mut self.phase {
            *until = now;
        }
    }

    pub(super) fn reset(&mut self) {
        self.failures = 0;
        if !matches!(self.phase, Phase::Closed) {
            self.counts.closed += 1;
            self.enter(Phase::Closed);
        }
    }

    fn fail(&mut self, error: Arc<str>) {
        self.failures = self.failures.saturating_add(1);
        self.last_error = error;
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.generation += 1;
    }

    /// The refusal of a call that begins now, if it is not admitted.
    pub(super) fn refusal(&self, options: &BreakerOptions, now: Instant) -> Option<Refused> {
        let until = match self.phase {
            Phase::Closed => return None,
            Phase::Open { until } => until,
            Phase::HalfOpen { running, .. } if running < options.trials => return None,
            // A trial that takes longer than `open_for` must not block all calls until it ends.
            // Its outcome still counts, but another trial is admitted.
            Phase::HalfOpen { granted, .. } => granted + options.open_for,
        };
        (now < until).then(|| Refused {
            retry_after: until.saturating_duration_since(now),
            since: self.since,
            failures: self.failures,
            last_error: Arc::clone(&self.last_error),
        })
    }
}

/// The beginning of an error's text, at most [`Refused::ERROR_LIMIT`] bytes.
pub(super) fn excerpt(error: &dyn fmt::Display) -> Arc<str> {
    let mut text = Excerpt(String::new());
    // Writing fails if the limit is reached or the error's `Display` fails; the text so far is
    // kept.
    write!(text, "{error}").ok();
    Arc::from(text.0)
}

struct Excerpt(String);

impl Write for Excerpt {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = Refused::ERROR_LIMIT - self.0.len();
        let end = part.floor_char_boundary(room);
        self.0.push_str(&part[..end]);
        if end < part.len() { Err(fmt::Error) } else { Ok(()) }
    }
}
