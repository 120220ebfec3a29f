//! Stopping and starting an upstream by command. Unlike the end of an upstream, this can be undone.

use super::{
    Status,
    core::Core,
    faults,
    open::closed,
    server::Upstream,
    session_pool::{Awake, SessionPool},
    status::State,
};
use futures_util::future::join_all;
use std::time::Duration;
use tokio::time::sleep;
use trunkline_protocol::Fault;
use trunkline_resilience::timeout;

/// Poll interval while an upstream drains.
const DRAIN_POLL: Duration = Duration::from_millis(50);

impl Upstream {
    /// Refuses new calls, lets those in flight finish for at most `drain`, and ends all sessions
    /// and processes. Nothing but [`Upstream::resume`] starts the server again.
    pub async fn halt(&self, drain: Duration) {
        let _turn = self.turn.lock().await;
        self.refuse_calls();
        self.identities().iter().for_each(|own| own.refuse_calls());
        timeout(drain, self.core.drained()).await;
        let sessions = self.core.pool().clear(State::Stopped);
        join_all(sessions.into_iter().map(|live| async move {
            live.end(closed());
            live.session.close().await;
        }))
        .await;
        self.core.bump();
        join_all(self.identities().iter().map(|own| Box::pin(own.halt(drain)))).await;
    }

    /// Stops it like the server that it replaces, which was stopped by command and has ended.
    pub fn stay_halted(&self) {
        self.refuse_calls();
    }

    /// Starts the server again, or retries now if it failed; the circuit breaker is closed.
    pub async fn resume(&self) {
        let _turn = self.turn.lock().await;
        self.core.breaker.reset();
        self.core.pool().revive();
        self.core.attention.notify_one();
        self.core.bump();
        join_all(self.identities().iter().map(|own| Box::pin(own.resume()))).await;
    }

    /// True if the server was stopped by command.
    pub fn is_halted(&self) -> bool {
        self.core.pool().halted
    }

    /// The status once the server has connected or failed to, or after `limit`.
    pub async fn settled(&self, limit: Duration) -> Status {
        let mut versions = self.watch();
        let settled = async {
            // A template has nothing to wait for: callers start its sessions.
            while !self.is_template() && matches!(self.status().state, State::Idle | State::Connecting) {
                if versions.changed().await.is_err() {
                    break;
                }
            }
        };
        timeout(limit, settled).await;
        self.status()
    }

    fn refuse_calls(&self) {
        let mut pool = self.core.pool();
        pool.halted = true;
        pool.awake = Awake::No;
        pool.enter(State::Stopped);
        self.core.everyones.store(None);
        drop(pool);
        self.core.make_stale();
        self.core.bump();
    }
}

impl Core {
    /// Waits until no call is in flight.
    pub(super) async fn drained(&self) {
        loop {
            sleep(DRAIN_POLL).await;
            if self.calls().in_flight == 0 {
                break;
            }
        }
    }

    /// The fault of calls to a server that was stopped.
    pub(super) fn stopped(&self) -> Fault {
        if self.pool().halted { faults::halted(&self.name) } else { faults::stopped(&self.name) }
    }
}

impl SessionPool {
    /// Allows the server to be started, as if nothing had failed before.
    fn revive(&mut self) {
        self.failures = 0;
        self.retry_at = None;
        self.awake = Awake::Yes;
        if std::mem::take(&mut self.halted) {
            self.state = State::Idle;
            self.started_again += u64::from(self.opened > 0);
        }
        if !self.has_sessions() {
            self.enter(State::Idle);
        }
    }
}
