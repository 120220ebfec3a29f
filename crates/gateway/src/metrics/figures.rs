//! A snapshot of one upstream's figures, as plain data.

use crate::upstream::{BreakerStatus, State, Status};

/// The states of an upstream, as in its status.
pub const STATES: [&str; 6] = ["idle", "connecting", "ready", "lost", "failed", "stopped"];

/// The states of a circuit breaker.
pub const BREAKER_STATES: [&str; 3] = ["closed", "half-open", "open"];

/// The figures of one upstream at one time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UpstreamFigures {
    pub name: String,
    /// One of [`STATES`].
    pub state: String,
    /// One of `up`, `starting` and `down`.
    pub health: String,
    /// One of [`BREAKER_STATES`].
    pub breaker: String,
    /// Calls in flight.
    pub in_flight: u64,
    /// Calls that wait for a slot.
    pub waiting: u64,
    /// Calls refused before they were sent.
    pub refused: u64,
    pub restarts: u64,
    pub sessions: u64,
    pub calls: Vec<CallFigures>,
}

/// Calls of one method, or of one tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallFigures {
    pub method: String,
    /// Set only if calls are counted per tool.
    pub tool: Option<String>,
    pub calls: u64,
    /// Calls that ended with an error, including `isError` results of tools.
    pub failures: u64,
    pub latency: Histogram,
}

/// The durations of calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histogram {
    /// Number of calls in each of [`BUCKETS`](super::BUCKETS), not cumulative.
    pub counts: Vec<u64>,
    pub sum_seconds: f64,
    pub count: u64,
}

/// The figures in an upstream's status; `calls` is left empty, a [`Meter`](super::Meter) has them.
impl From<&Status> for UpstreamFigures {
    fn from(status: &Status) -> Self {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        Self {
            name: status.name.clone(),
            state: state(status.state).to_owned(),
            health: status.health.as_str().to_owned(),
            breaker: breaker(status.breaker).to_owned(),
            in_flight: count(status.calls.in_flight),
            waiting: count(status.calls.waiting),
            refused: status.calls.refused,
            restarts: status.restarts,
            sessions: count(status.sessions.len()),
            calls: Vec::new(),
        }
    }
}

fn state(state: State) -> &'static str {
    match state {
        State::Idle => "idle",
        State::Connecting => "connecting",
        State::Ready => "ready",
        State::Lost => "lost",
        State::Failed => "failed",
        State::Stopped => "stopped",
    }
}

fn breaker(state: BreakerStatus) -> &'static str {
    match state {
        BreakerStatus::Closed => "closed",
        BreakerStatus::HalfOpen => "half-open",
        BreakerStatus::Open => "open",
    }
}
