//! A snapshot of one upstream's figures. Plain data: whoever knows them fills it.

use crate::upstream::{BreakerStatus, State, Status};

/// The words for where an upstream is, as its status has them.
pub const STATES: [&str; 6] = ["idle", "connecting", "ready", "lost", "failed", "stopped"];

/// The words for where a breaker is.
pub const BREAKER_STATES: [&str; 3] = ["closed", "half-open", "open"];

/// What is known about one upstream at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UpstreamFigures {
    pub name: String,
    /// One of [`STATES`].
    pub state: String,
    /// One of [`BREAKER_STATES`].
    pub breaker: String,
    /// Calls that the server works on.
    pub in_flight: u64,
    /// Calls that wait for room.
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
    /// Only where tools are counted one by one.
    pub tool: Option<String>,
    pub calls: u64,
    /// Of these, with an error or with a tool's own error.
    pub failures: u64,
    pub latency: Histogram,
}

/// How long calls took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histogram {
    /// How many took at most as long as each of [`BUCKETS`](super::BUCKETS) says and longer than the one before.
    pub counts: Vec<u64>,
    pub sum_seconds: f64,
    pub count: u64,
}

/// What an upstream says of itself; what was sent to it, a [`Meter`](super::Meter) knows.
impl From<&Status> for UpstreamFigures {
    fn from(status: &Status) -> Self {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        Self {
            name: status.name.clone(),
            state: state(status.state).to_owned(),
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
