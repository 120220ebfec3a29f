//! Upstream: one server as the gateway sees it.

use super::{
    Event, Offer, Status, UpstreamOptions, call, core::Core, live_session::SessionKey, open::closed,
    personal::Role, status::State,
};
use futures_util::future::{BoxFuture, join_all};
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::{broadcast, watch};
use trunkline_protocol::{Call, Connect, Handler, Notify, Reply, Revision, ServerName, method};
use trunkline_resilience::timeout;

/// One server behind the gateway: supervised, with its sessions and its lists.
///
/// It runs until [`Upstream::stop`], or until it is dropped.
pub struct Upstream {
    pub(super) core: Arc<Core>,
    pub(super) role: Role,
    started: AtomicBool,
    /// Held while a command stops or starts it.
    pub(super) turn: tokio::sync::Mutex<()>,
}

impl Upstream {
    /// An upstream that is not started. Options outside their range are replaced by the defaults;
    /// see [`UpstreamOptions::checked`].
    pub fn new(name: ServerName, connect: Arc<dyn Connect>, options: UpstreamOptions) -> Arc<Self> {
        Self::with_role(Core::new(name, connect, options), Role::Shared)
    }

    pub(super) fn with_role(core: Core, role: Role) -> Arc<Self> {
        let turn = tokio::sync::Mutex::default();
        Arc::new(Self { core: Arc::new(core), role, started: AtomicBool::new(false), turn })
    }

    /// Starts the supervisor task.
    pub fn start(self: &Arc<Self>) {
        if !self.is_template() && !self.started.swap(true, Ordering::AcqRel) {
            tokio::spawn(self.core.clone().supervise());
        }
    }

    /// Starts a server that is started lazily, because its lists are wanted.
    pub fn wake(&self) {
        if !self.is_template() {
            self.core.wake();
        }
    }

    /// Opens the session of the call's client if its lists may differ from the known ones. The
    /// future ends when they were compared; it need not be polled. `None` if there is nothing to
    /// compare.
    pub fn prepare(&self, call: &Call) -> Option<BoxFuture<'static, ()>> {
        self.core.prepare(call)
    }

    /// Tries to connect now, whatever failed before.
    pub fn retry(&self) {
        let mut pool = self.core.pool();
        pool.retry_at = None;
        pool.failures = 0;
        drop(pool);
        self.wake();
        self.core.attention.notify_one();
        self.identities().iter().for_each(|own| own.retry());
    }

    pub fn name(&self) -> &ServerName {
        &self.core.name
    }

    /// The server's offer; `None` until it has connected for the first time.
    pub fn offer(&self) -> Option<Arc<Offer>> {
        self.core.offer.load_full()
    }

    /// True if there is no connection and the last attempt failed, or the server was stopped.
    pub fn has_failed(&self) -> bool {
        let pool = self.core.pool();
        self.is_template() || !pool.has_sessions() && (pool.failures > 0 || pool.state == State::Stopped)
    }

    /// False if the server announced a change of its lists that was not read yet.
    pub fn is_settled(&self) -> bool {
        self.core.unread.load(Ordering::Acquire) == 0
    }

    /// The revision of the newest session, whose lists may not be read yet.
    pub fn revision(&self) -> Option<Revision> {
        self.core.pool().revision()
    }

    /// Counts changes of the offer and of the state.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.core.versions.subscribe()
    }

    /// Notifications that belong to no call, except changes of lists: those change the offer.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.core.events()
    }

    pub fn status(&self) -> Status {
        self.own_status().combined(&self.identities())
    }

    /// Sets the offer of the server's last run, used until it has connected again.
    pub fn recall(&self, offer: Offer) {
        let before = self.core.offer.compare_and_swap(&None::<Arc<Offer>>, Some(Arc::new(offer)));
        if before.is_none() {
            self.core.bump();
        }
    }

    /// Lets calls in flight finish for at most `limit`, then stops. Calls that were routed here
    /// before the catalog changed are still accepted.
    pub async fn drain(&self, limit: Duration) {
        timeout(limit, self.core.drained()).await;
        self.stop().await;
    }

    /// Ends all sessions and processes and waits for them. Calls in flight fail.
    pub async fn stop(&self) {
        let core = &self.core;
        core.stop.send_replace(true);
        core.everyones.store(None);
        let sessions = core.pool().clear(State::Stopped);
        core.bump();
        let close = sessions.into_iter().map(|live| async move {
            live.end(closed());
            live.session.close().await;
        });
        join_all(close).await;
        join_all(self.identities().iter().map(|own| Box::pin(own.stop()))).await;
    }
}

impl Handler for Upstream {
    fn call(&self, call: Call) -> Reply {
        call::begin(self.core.clone(), call)
    }

    /// Sends the notification on all sessions of its sender. A shared session does not get changes
    /// of roots, which concern only one client.
    fn notify(&self, notice: Notify) {
        let personal = notice.notification.method == method::ROOTS_CHANGED;
        let sessions: Vec<_> = self
            .core
            .pool()
            .sessions()
            .filter(|(key, _)| match key {
                SessionKey::Common => !personal,
                SessionKey::Of(profile) => profile.principal == notice.caller.id,
            })
            .map(|(_, live)| live.session.clone())
            .collect();
        for session in sessions {
            session.notify(notice.clone());
        }
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.core.stop.send_replace(true);
        self.core.everyones.store(None);
        let sessions = self.core.pool().clear(State::Stopped);
        if tokio::runtime::Handle::try_current().is_err() {
            // Without a runtime sessions cannot be closed; dropping them ends their processes.
            return;
        }
        for live in sessions {
            live.close_in_background(closed());
        }
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").field("name", &self.core.name).finish_non_exhaustive()
    }
}
