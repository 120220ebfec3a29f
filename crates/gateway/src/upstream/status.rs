//! The status of one upstream, for people and programs.

use super::{
    Upstream,
    core::Core,
    item::Quarantined,
    latency::Percentiles,
    live_session::{LiveSession, SessionKey},
    offer::Kind,
};
use serde::Serialize;
use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};
use trunkline_protocol::Fault;
use trunkline_resilience::BreakerState;

/// The state of an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Not started yet, or stopped because it was idle; the next call starts it.
    Idle,
    Connecting,
    Ready,
    /// Not connected; it is retried automatically.
    Lost,
    /// Not connected until the configuration or the machine is fixed.
    Failed,
    /// Stopped by us or by command.
    Stopped,
}

/// The status of an upstream. Times are in milliseconds; `…At` since 1970.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    pub name: String,
    pub state: State,
    /// The verdict that status page, metrics and `/readyz?verbose` share.
    pub health: Health,
    pub since_at: u64,
    pub for_ms: u64,
    /// True if it was stopped by command.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_command: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<LastError>,
    /// Failures in a row to connect or to stay connected.
    pub failures: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_try_ms: Option<u64>,
    /// Number of restarts and reconnections.
    pub restarts: u64,
    pub breaker: BreakerStatus,
    pub calls: Calls,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Percentiles>,
    pub sessions: Vec<SessionStatus>,
    /// True if the server is not connected and the lists are those of its last run.
    pub stale: bool,
    pub lists: Vec<ListStatus>,
    pub quarantined: Vec<Quarantined>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LastError {
    pub code: &'static str,
    pub name: &'static str,
    /// For the operator: it may contain paths.
    pub text: String,
    pub at: u64,
}

/// If an upstream can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// It can be called; an idle server is started by the call.
    Up,
    /// It is being started or connected.
    Starting,
    Down,
}

/// The circuit breaker that all sessions share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BreakerStatus {
    Closed,
    HalfOpen,
    Open,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Calls {
    pub in_flight: usize,
    pub waiting: usize,
    pub total: u64,
    pub failed: u64,
    /// Refused before they were sent: no slot, rate, or not connected.
    pub refused: u64,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStatus {
    /// The caller; absent for the gateway's own and for shared sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    pub age_ms: u64,
    pub idle_ms: u64,
    pub calls: usize,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListStatus {
    pub kind: Kind,
    /// Absent if they are not known: the server was never connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<usize>,
    pub quarantined: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
    /// The reason why it may be incomplete or stale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl Status {
    pub(super) fn of(core: &Core) -> Self {
        let offer = core.offer.load_full();
        let lists = core.lists();
        let pool = core.pool();
        let mut sessions: Vec<_> = pool.sessions().map(|(key, live)| session(key, live)).collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(session.age_ms));
        let breaker = BreakerStatus::from(core.breaker.state());
        Self {
            name: core.name.to_string(),
            state: pool.state,
            health: Health::of(pool.state, breaker),
            since_at: epoch_ms(pool.since.1),
            for_ms: millis(pool.since.0.elapsed()),
            by_command: pool.halted,
            revision: offer.as_ref().map(|offer| offer.revision.as_str()),
            last_error: pool.last_error.as_ref().map(|(fault, at)| LastError::of(fault, *at)),
            failures: pool.failures,
            next_try_ms: pool.pause().map(|at| millis(at - tokio::time::Instant::now())),
            restarts: pool.restarts(),
            breaker,
            calls: core.calls(),
            latency: core.latency.percentiles(),
            sessions,
            stale: offer.as_ref().is_some_and(|offer| offer.stale),
            lists: Kind::ALL.map(|kind| lists.status(kind, offer.as_deref())).into(),
            quarantined: lists.quarantined(),
        }
    }
}

impl Status {
    /// The status of a server with the sessions of all identities. Their breakers are separate, so
    /// one of them says nothing about the server.
    pub(super) fn combined(mut self, identities: &[Arc<Upstream>]) -> Self {
        let mut running = None;
        for own in identities.iter().map(|own| own.own_status()) {
            self.calls.total += own.calls.total;
            self.calls.failed += own.calls.failed;
            self.calls.refused += own.calls.refused;
            self.restarts += own.restarts;
            self.sessions.extend(own.sessions);
            self.revision = self.revision.or(own.revision);
            let last = self.last_error.as_ref().map_or(0, |last| last.at);
            self.last_error = own.last_error.filter(|error| error.at > last).or(self.last_error);
            running = match (running, own.state) {
                (Some(State::Ready), _) | (_, State::Ready) => Some(State::Ready),
                (running, state) => running.or(Some(state)),
            };
        }
        if let Some(state) = running.filter(|_| self.state != State::Stopped) {
            self.state = state;
            self.health = Health::of(state, self.breaker);
        }
        self
    }
}

impl LastError {
    fn of(fault: &Fault, at: SystemTime) -> Self {
        let entry = fault.entry();
        Self { code: entry.code, name: entry.name, text: fault.to_string(), at: epoch_ms(at) }
    }
}

fn session(key: &SessionKey, live: &Arc<LiveSession>) -> SessionStatus {
    let principal = match key {
        SessionKey::Common => None,
        SessionKey::Of(profile) => Some(profile.principal.clone()),
    };
    let idle = if live.users() > 0 { 0 } else { millis(live.last_used().elapsed()) };
    SessionStatus { principal, age_ms: millis(live.opened.elapsed()), idle_ms: idle, calls: live.users() }
}

impl Health {
    fn of(state: State, breaker: BreakerStatus) -> Self {
        match (state, breaker) {
            (_, BreakerStatus::Open) | (State::Lost | State::Failed | State::Stopped, _) => Self::Down,
            (State::Connecting, _) => Self::Starting,
            (State::Ready | State::Idle, _) => Self::Up,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Starting => "starting",
            Self::Down => "down",
        }
    }
}

impl From<BreakerState> for BreakerStatus {
    fn from(state: BreakerState) -> Self {
        match state {
            BreakerState::Closed { .. } => Self::Closed,
            BreakerState::HalfOpen { .. } => Self::HalfOpen,
            BreakerState::Open { .. } => Self::Open,
        }
    }
}

pub(super) fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn epoch_ms(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).map_or(0, millis)
}
