//! The status of one upstream, for people and programs.

use super::{
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
    /// Stopped by us.
    Stopped,
}

/// The status of an upstream. Times are in milliseconds; `…At` since 1970.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    pub name: String,
    pub state: State,
    pub since_at: u64,
    pub for_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<LastError>,
    /// Failures in a row to connect or to stay connected.
    pub failures: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_try_ms: Option<u64>,
    /// Sessions that were opened after others were lost.
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

/// The worst of the breakers of all sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
    pub items: usize,
    pub quarantined: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
    /// Why it may be incomplete or stale.
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
        let breaker = pool.sessions().map(|(_, live)| breaker(live)).max().unwrap_or(BreakerStatus::Closed);
        Self {
            name: core.name.to_string(),
            state: pool.state,
            since_at: epoch_ms(pool.since.1),
            for_ms: millis(pool.since.0.elapsed()),
            revision: offer.as_ref().map(|offer| offer.revision.as_str()),
            last_error: pool.last_error.as_ref().map(|(fault, at)| LastError::of(fault, *at)),
            failures: pool.failures,
            next_try_ms: pool.pause().map(|at| millis(at - tokio::time::Instant::now())),
            restarts: pool.lost.min(pool.opened.saturating_sub(1)),
            breaker,
            calls: core.calls(),
            latency: core.latency.percentiles(),
            sessions,
            stale: offer.is_some_and(|offer| offer.stale),
            lists: Kind::ALL.map(|kind| lists.status(kind)).into(),
            quarantined: lists.quarantined(),
        }
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

fn breaker(live: &Arc<LiveSession>) -> BreakerStatus {
    match live.breaker.state() {
        BreakerState::Closed { .. } => BreakerStatus::Closed,
        BreakerState::HalfOpen { .. } => BreakerStatus::HalfOpen,
        BreakerState::Open { .. } => BreakerStatus::Open,
    }
}

pub(super) fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn epoch_ms(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).map_or(0, millis)
}
