//! The circuit breaker of one server: after some consecutive failures, calls are refused at once for a while,
//! then a trial decides.
//!
//! ```text
//!            `failures` in a row               `open_for` has passed, a call asks
//!   Closed ─────────────────────▶ Open ─────────────────────────────────────────▶ HalfOpen
//!     ▲                            ▲                                               │    │
//!     │                            └───────────────── a trial failed ──────────────┘    │
//!     └────────────────────────────────────────────── a trial succeeded ────────────────┘
//! ```
//!
//! What counts as a failure is the caller's choice. An error *answered* by the server (bad arguments, unknown tool)
//! shows a server that works, and is settled as a success; no answer, a broken connection or an overload is a failure.
//!
//! Every transition begins a new *generation*, and a call's outcome counts only in the generation that admitted it.
//! A call that began before the breaker opened tells nothing about the server after that: its late success must not
//! close the breaker past a trial, nor its late failure push a recovered server out again.
//!
//! No timer runs: an open breaker becomes half open with the first call after `open_for`.

mod state;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

use super::{OutOfRange, within};
use state::{Ledger, Outcome};

/// The numbers of a [`Breaker`]; they are checked by [`Breaker::new`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerOptions {
    /// Consecutive failures after which the breaker opens, 1 to 1000.
    pub failures: u32,
    /// How long it refuses before it lets a trial through, 1 ms to 1 h.
    pub open_for: Duration,
    /// How many trials may run at the same time, 1 to 100.
    pub trials: u32,
}

/// Guards the calls to one server. Clones share their state.
#[derive(Clone)]
pub struct Breaker {
    shared: Arc<Shared>,
}

/// The permission to make one call, which is told how the call went.
///
/// Dropped without being told (the call was cancelled), it counts for nothing, and a trial's place is free again.
#[must_use = "a call that is not settled counts for nothing"]
pub struct Admission {
    shared: Arc<Shared>,
    generation: u64,
    kind: AdmissionKind,
}

/// The server has failed too often lately; the call was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server failed {failures} times in a row and is given a rest, try again in {retry_after:.1?}")]
pub struct Refused {
    /// When a call may be admitted as a trial; sooner if a running trial ends before.
    pub retry_after: Duration,
    /// When the breaker left [`BreakerState::Closed`].
    pub since: Instant,
    /// Consecutive failures so far, failed trials included.
    pub failures: u32,
    /// The text of the last failure, cut to [`Refused::ERROR_LIMIT`] bytes.
    pub last_error: Arc<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// Calls pass.
    Closed { failures: u32 },
    /// Calls are refused. From `until` on, the next call is a trial. `since` is when the outage began.
    Open { since: Instant, until: Instant },
    /// Trials decide, other calls are refused. `since` is when the outage began.
    HalfOpen { since: Instant },
}

/// How often what happened since the breaker was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BreakerCounts {
    /// Transitions from `Closed` to `Open`.
    pub opened: u64,
    /// Transitions from `HalfOpen` back to `Open`.
    pub reopened: u64,
    /// Transitions from `Open` to `HalfOpen`.
    pub half_opened: u64,
    /// Transitions from `HalfOpen` to `Closed`.
    pub closed: u64,
    /// Calls that were refused.
    pub refused: u64,
}

struct Shared {
    name: Arc<str>,
    options: BreakerOptions,
    /// What a call to a healthy server needs to know, readable without the lock; written only under it.
    gate: AtomicU64,
    ledger: Mutex<Ledger>,
    states: watch::Sender<BreakerState>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AdmissionKind {
    Ordinary,
    Trial,
    Settled,
}

/// The breaker is closed.
const GATE_CLOSED: u64 = 0b01;
/// The breaker is closed and has no failure to forget.
const GATE_CLEAN: u64 = 0b10;
/// The generation lies above the flags.
const GATE_SHIFT: u32 = 2;

impl Breaker {
    /// A closed breaker; `name` is the server's, for the log.
    pub fn new(name: impl Into<Arc<str>>, options: BreakerOptions) -> Result<Self, OutOfRange> {
        let options = options.checked()?;
        let ledger = Ledger::new(Instant::now());
        let shared = Shared {
            name: name.into(),
            options,
            gate: AtomicU64::new(gate_of(&ledger)),
            states: watch::Sender::new(ledger.state()),
            ledger: Mutex::new(ledger),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Asks to make a call now.
    pub fn admit(&self) -> Result<Admission, Refused> {
        let gate = self.shared.gate.load(Ordering::Acquire);
        if gate & GATE_CLOSED != 0 {
            return Ok(self.admission(gate >> GATE_SHIFT, AdmissionKind::Ordinary));
        }
        let now = Instant::now();
        let mut ledger = self.shared.lock();
        let before = ledger.generation;
        let answer = ledger.ask(&self.shared.options, now);
        self.shared.publish(&ledger, before);
        let generation = ledger.generation;
        drop(ledger);
        match answer? {
            state::Pass::Ordinary => Ok(self.admission(generation, AdmissionKind::Ordinary)),
            state::Pass::Trial => Ok(self.admission(generation, AdmissionKind::Trial)),
        }
    }

    pub fn state(&self) -> BreakerState {
        self.shared.lock().state()
    }

    pub fn counts(&self) -> BreakerCounts {
        self.shared.lock().counts
    }

    /// Follows the transitions. A slow reader sees the latest state only; [`Breaker::counts`] misses none.
    pub fn watch(&self) -> watch::Receiver<BreakerState> {
        self.shared.states.subscribe()
    }

    pub fn name(&self) -> &str {
        &self.shared.name
    }

    fn admission(&self, generation: u64, kind: AdmissionKind) -> Admission {
        Admission { shared: Arc::clone(&self.shared), generation, kind }
    }
}

impl Admission {
    /// The server answered, be it with an error of the caller's making.
    pub fn succeeded(mut self) {
        self.kind = AdmissionKind::Settled;
        let healthy = (self.generation << GATE_SHIFT) | GATE_CLOSED | GATE_CLEAN;
        if self.shared.gate.load(Ordering::Acquire) != healthy {
            self.shared.settle(self.generation, Outcome::Succeeded);
        }
    }

    /// The server did not answer, or showed that it cannot work. `error` goes to the log and into [`Refused`].
    pub fn failed(mut self, error: &dyn fmt::Display) {
        self.kind = AdmissionKind::Settled;
        self.shared.settle(self.generation, Outcome::Failed(state::excerpt(error)));
    }

    /// Whether this call decides if a half-open breaker closes.
    pub fn is_trial(&self) -> bool {
        self.kind == AdmissionKind::Trial
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        if self.kind == AdmissionKind::Trial {
            self.shared.settle(self.generation, Outcome::Abandoned);
        }
    }
}

impl Refused {
    /// The longest text kept of an error, in bytes.
    pub const ERROR_LIMIT: usize = 512;
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle(&self, generation: u64, outcome: Outcome) {
        let now = Instant::now();
        let mut ledger = self.lock();
        if ledger.generation == generation {
            ledger.settle(&self.options, outcome, now);
            self.publish(&ledger, generation);
        }
    }

    /// Makes what changed since generation `before` visible; called with the lock held, so that nothing overtakes.
    fn publish(&self, ledger: &Ledger, before: u64) {
        self.gate.store(gate_of(ledger), Ordering::Release);
        if ledger.generation == before {
            return;
        }
        let (server, failures) = (&*self.name, ledger.failures);
        match ledger.state() {
            BreakerState::Closed { .. } => tracing::info!(server, "circuit closed"),
            BreakerState::HalfOpen { .. } => tracing::info!(server, "circuit half open, a trial decides"),
            BreakerState::Open { .. } => {
                let (error, open_for) = (&*ledger.last_error, self.options.open_for);
                tracing::warn!(server, failures, error, ?open_for, "circuit open");
            }
        }
        self.states.send_replace(ledger.state());
    }
}

impl BreakerOptions {
    fn checked(self) -> Result<Self, OutOfRange> {
        within("breaker failures", self.failures, 1..=1000)?;
        within("breaker open time", self.open_for, Duration::from_millis(1)..=Duration::from_hours(1))?;
        within("breaker trials", self.trials, 1..=100)?;
        Ok(self)
    }
}

impl Default for BreakerOptions {
    fn default() -> Self {
        Self { failures: 5, open_for: Duration::from_secs(30), trials: 1 }
    }
}

impl fmt::Debug for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breaker")
            .field("name", &self.shared.name)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admission")
            .field("server", &self.shared.name)
            .field("generation", &self.generation)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

fn gate_of(ledger: &Ledger) -> u64 {
    let flags = match ledger.state() {
        BreakerState::Closed { failures: 0 } => GATE_CLOSED | GATE_CLEAN,
        BreakerState::Closed { .. } => GATE_CLOSED,
        BreakerState::Open { .. } | BreakerState::HalfOpen { .. } => 0,
    };
    (ledger.generation << GATE_SHIFT) | flags
}
