//! The circuit breaker of one server: after several consecutive failures, calls are refused at
//! once for some time. Then a trial call decides if the server has recovered.
//!
//! ```text
//!            `failures` in a row               `open_for` has passed, a call asks
//!   Closed ─────────────────────▶ Open ─────────────────────────────────────────▶ HalfOpen
//!     ▲                            ▲                                               │    │
//!     │                            └───────────────── a trial failed ──────────────┘    │
//!     └────────────────────────────────────────────── a trial succeeded ────────────────┘
//! ```
//!
//! The caller decides which outcomes are failures. An error *response* (bad arguments, unknown
//! tool) shows that the server works and counts as a success; a timeout, a broken connection or an
//! overload is a failure.
//!
//! Every transition starts a new *generation*, and a call's outcome counts only in the generation
//! that admitted it. A call that began before the breaker opened says nothing about the server
//! afterwards: its late success must not close the breaker without a trial, and its late failure
//! must not reopen the breaker of a recovered server.
//!
//! A failure outside of calls (the server's process ended) counts in the current generation.
//!
//! There is no timer: an open breaker becomes half open with the first call after `open_for`.

mod state;
#[cfg(test)]
mod tests;

use parking_lot::{Mutex, MutexGuard};
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

use super::{OutOfRange, within};
use state::{Outcome, StateMachine};

/// The settings of a [`Breaker`]. [`Breaker::new`] checks them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerOptions {
    /// Consecutive failures after which the breaker opens, 1 to 1000.
    pub failures: u32,
    /// Time for which calls are refused before a trial is admitted, 1 ms to 1 h.
    pub open_for: Duration,
    /// Maximum number of concurrent trials, 1 to 100.
    pub trials: u32,
}

/// Guards the calls to one server. Clones share their state.
#[derive(Clone)]
pub struct Breaker {
    shared: Arc<Shared>,
}

/// The permission to make one call, on which the caller reports the outcome.
///
/// If it is dropped without an outcome (the call was cancelled), it counts neither as success nor
/// as failure, and a trial's slot is released.
#[must_use = "an admission dropped without an outcome counts neither as success nor as failure"]
pub struct Admission {
    shared: Arc<Shared>,
    generation: u64,
    kind: AdmissionKind,
}

/// The server has failed too often lately; the call was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server's circuit is open (failures in a row: {failures}); try again in {retry_after:.1?}")]
pub struct Refused {
    /// Time until a call may be admitted as a trial; less if a running trial ends earlier.
    pub retry_after: Duration,
    /// The time at which the breaker left [`BreakerState::Closed`].
    pub since: Instant,
    /// Consecutive failures so far, failed trials included.
    pub failures: u32,
    /// The text of the last failure, truncated to [`Refused::ERROR_LIMIT`] bytes.
    pub last_error: Arc<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// All calls are admitted.
    Closed { failures: u32 },
    /// Calls are refused. From `until` on, the next call is a trial. `since` is the start of the
    /// outage.
    Open { since: Instant, until: Instant },
    /// Only trials are admitted. `since` is the start of the outage.
    HalfOpen { since: Instant },
}

/// Counters since the breaker was created.
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
    /// Generation and flags, which a call to a healthy server reads without the lock. Written only
    /// under the lock.
    gate: AtomicU64,
    machine: Mutex<StateMachine>,
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
/// The breaker is closed and its failure count is 0.
const GATE_CLEAN: u64 = 0b10;
/// The generation is stored above the flag bits.
const GATE_SHIFT: u32 = 2;

impl Breaker {
    /// Creates a closed breaker; `name` is the server's name for the log.
    pub fn new(name: impl Into<Arc<str>>, options: BreakerOptions) -> Result<Self, OutOfRange> {
        let options = options.checked()?;
        let machine = StateMachine::new(Instant::now());
        let shared = Shared {
            name: name.into(),
            options,
            gate: AtomicU64::new(gate_of(&machine)),
            states: watch::Sender::new(machine.state()),
            machine: Mutex::new(machine),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Requests permission to make a call now.
    pub fn admit(&self) -> Result<Admission, Refused> {
        let gate = self.shared.gate.load(Ordering::Acquire);
        if gate & GATE_CLOSED != 0 {
            return Ok(self.admission(gate >> GATE_SHIFT, AdmissionKind::Ordinary));
        }
        let now = Instant::now();
        let mut machine = self.shared.lock();
        let before = machine.generation;
        let answer = machine.admit(&self.shared.options, now);
        self.shared.publish(&machine, before);
        let generation = machine.generation;
        drop(machine);
        match answer? {
            state::Pass::Ordinary => Ok(self.admission(generation, AdmissionKind::Ordinary)),
            state::Pass::Trial => Ok(self.admission(generation, AdmissionKind::Trial)),
        }
    }

    /// Tells if a call would be admitted now, without admitting it.
    pub fn peek(&self) -> Result<(), Refused> {
        self.shared.lock().refusal(&self.shared.options, Instant::now()).map_or(Ok(()), Err)
    }

    /// Reports a failure that belongs to no call, such as the end of the server's process.
    pub fn failed(&self, error: &dyn fmt::Display) {
        let error = state::excerpt(error);
        self.shared.change(|machine, options, now| machine.settle(options, Outcome::Failed(error), now));
    }

    /// Ends the time for which an open breaker refuses calls, so that the next call is a trial.
    pub fn allow_trial(&self) {
        self.shared.change(|machine, _, now| machine.allow_trial(now));
    }

    /// Closes the breaker and forgets earlier failures.
    pub fn reset(&self) {
        self.shared.change(|machine, _, _| machine.reset());
    }

    pub fn state(&self) -> BreakerState {
        self.shared.lock().state()
    }

    pub fn counts(&self) -> BreakerCounts {
        self.shared.lock().counts
    }

    /// Watches the transitions. A slow reader sees only the latest state; [`Breaker::counts`]
    /// counts all of them.
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
    /// Reports that the server answered, even if with an error that the caller caused.
    pub fn succeeded(mut self) {
        self.kind = AdmissionKind::Settled;
        let healthy = (self.generation << GATE_SHIFT) | GATE_CLOSED | GATE_CLEAN;
        if self.shared.gate.load(Ordering::Acquire) != healthy {
            self.shared.settle(self.generation, Outcome::Succeeded);
        }
    }

    /// Reports that the server did not answer or is not able to work. `error` goes to the log and
    /// into [`Refused`].
    pub fn failed(mut self, error: &dyn fmt::Display) {
        self.kind = AdmissionKind::Settled;
        self.shared.settle(self.generation, Outcome::Failed(state::excerpt(error)));
    }

    /// True if this call decides if a half-open breaker closes.
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
    /// Maximum length of an error text that is kept, in bytes.
    pub const ERROR_LIMIT: usize = 512;
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, StateMachine> {
        self.machine.lock()
    }

    fn settle(&self, generation: u64, outcome: Outcome) {
        self.change(|machine, options, now| {
            if machine.generation == generation {
                machine.settle(options, outcome, now);
            }
        });
    }

    /// Changes the state machine and publishes the result.
    fn change(&self, change: impl FnOnce(&mut StateMachine, &BreakerOptions, Instant)) {
        let now = Instant::now();
        let mut machine = self.lock();
        let before = machine.generation;
        change(&mut machine, &self.options, now);
        self.publish(&machine, before);
    }

    /// Publishes the gate, and the transition if there was one since generation `before`. Called
    /// with the lock held, so that transitions are published in order.
    fn publish(&self, machine: &StateMachine, before: u64) {
        self.gate.store(gate_of(machine), Ordering::Release);
        if machine.generation == before {
            return;
        }
        let (server, failures) = (&*self.name, machine.failures);
        match machine.state() {
            BreakerState::Closed { .. } => tracing::info!(server, "circuit closed"),
            BreakerState::HalfOpen { .. } => {
                tracing::info!(server, "circuit half open, admitting a trial call");
            }
            BreakerState::Open { .. } => {
                let (error, open_for) = (&*machine.last_error, self.options.open_for);
                tracing::warn!(server, failures, error, ?open_for, "circuit open");
            }
        }
        self.states.send_replace(machine.state());
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

fn gate_of(machine: &StateMachine) -> u64 {
    let flags = match machine.state() {
        BreakerState::Closed { failures: 0 } => GATE_CLOSED | GATE_CLEAN,
        BreakerState::Closed { .. } => GATE_CLOSED,
        BreakerState::Open { .. } | BreakerState::HalfOpen { .. } => 0,
    };
    (machine.generation << GATE_SHIFT) | flags
}
