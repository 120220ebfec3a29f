//! Opens sessions, finds the one for a call, and notices when one is lost.

use super::{
    Event,
    core::Core,
    era::{Sharing, is_other, must_listen, sharing},
    faults,
    live_session::{LiveSession, SessionKey, SessionLease},
    loops,
    offer::Kind,
    session_pool::{Choice, Opening, Pending, SessionPool},
    status::State,
    supervise::bit,
};
use std::{
    sync::{Arc, OnceLock, atomic::Ordering},
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use tracing::Instrument;
use trunkline_protocol::{Call, ConnectError, Fault, FaultKind, Notification, Profile, Session, method};
use trunkline_resilience::{Moment, timeout, timeout_at};

/// Grace period in which a connection attempt may fail by itself, with a better reason, before it
/// is dropped.
const CONNECT_GRACE: Duration = Duration::from_secs(1);

impl Core {
    /// The session for a call, if there is one now.
    pub(super) fn session_now(self: &Arc<Self>, call: &Call) -> Option<SessionLease> {
        if let Some(lease) = self.everyones.load().as_ref().and_then(LiveSession::lease) {
            return Some(lease);
        }
        match self.choose(&Profile::of(&call.caller, call.params.as_ref())).0 {
            Choice::Use(lease) => Some(lease),
            _ => None,
        }
    }

    /// The session for a call. Waits while the server starts; if the last attempts failed, only
    /// for `patience`.
    pub(super) async fn session_for(self: &Arc<Self>, call: &Call) -> Result<SessionLease, Fault> {
        let profile = Profile::of(&call.caller, call.params.as_ref());
        let patience = Moment::now() + self.options.patience;
        loop {
            let (choice, failing) = self.choose(&profile);
            match choice {
                Choice::Use(lease) => return Ok(lease),
                Choice::Wait(pending) if failing => match timeout_at(patience, ended(pending)).await {
                    Some(outcome) => outcome.map_err(|why| self.away(Some(&why)))?,
                    None => return Err(self.away(None)),
                },
                Choice::Wait(pending) => ended(pending).await.map_err(|why| self.away(Some(&why)))?,
                Choice::Pause(until) if Moment::from(until) <= patience => sleep_until(until).await,
                Choice::Pause(_) => return Err(self.away(None)),
                // The opening has begun; the next iteration waits for it.
                Choice::Open(..) => {}
                Choice::Stopped => return Err(self.stopped()),
                Choice::Full => return Err(faults::no_room(&self.name, "together", self.options.pool.most)),
                Choice::PrincipalFull => {
                    return Err(faults::no_room(
                        &self.name,
                        "of this caller",
                        self.options.pool.per_principal,
                    ));
                }
            }
        }
    }

    pub(super) fn choose(self: &Arc<Self>, profile: &Profile) -> (Choice, bool) {
        let mut pool = self.pool();
        let mut choice = pool.choose(profile, &self.options);
        if let Choice::Open(key, evicted) = &mut choice {
            self.open(&mut pool, key.clone());
            if let Some(evicted) = evicted.take() {
                evicted.close_in_background(closed());
            }
        }
        (choice, pool.failures > 0 && !pool.has_sessions())
    }

    /// Starts a task that opens a session.
    pub(super) fn open(self: &Arc<Self>, pool: &mut SessionPool, key: SessionKey) -> Pending {
        let (tell, done) = watch::channel(None);
        let (core, whose) = (self.clone(), key.clone());
        let task = tokio::spawn(async move {
            let outcome = core.connect(&whose).await;
            let outcome = core.opened(whose, outcome);
            tell.send_replace(Some(outcome));
        });
        pool.begin(key, Opening { done: done.clone(), task: task.abort_handle() });
        self.bump();
        done
    }

    async fn connect(&self, key: &SessionKey) -> Result<Arc<dyn Session>, ConnectError> {
        let profile = match key {
            SessionKey::Of(profile) => profile.clone(),
            SessionKey::Common => Profile {
                principal: String::new(),
                // With no client behind it the gateway can answer no question, so it declares
                // nothing; callers that declare nothing share this session.
                capabilities: "{}".to_owned(),
                client: None,
            },
        };
        let limit = self.options.timeouts.connect();
        let connecting = self.connect.connect(profile).instrument(self.log_span());
        let connecting = timeout(limit + CONNECT_GRACE, connecting);
        let session = connecting.await.unwrap_or_else(|| {
            let fault = Fault::new(FaultKind::Timeout, format!("no connection within {limit:?}"));
            Err(ConnectError { fault, permanent: false })
        })?;
        match loops::check(&session.introduction(), self.options.instance.as_deref()) {
            Ok(()) => Ok(session),
            Err(fault) => {
                session.close().await;
                Err(ConnectError { fault, permanent: true })
            }
        }
    }

    fn opened(
        self: &Arc<Self>,
        key: SessionKey,
        outcome: Result<Arc<dyn Session>, ConnectError>,
    ) -> Result<(), Fault> {
        let outcome = match outcome {
            Ok(session) => self.welcome(key, session),
            Err(broken) => Err(self.unopened(&key, broken)),
        };
        self.attention.notify_one();
        self.bump();
        outcome
    }

    fn welcome(self: &Arc<Self>, key: SessionKey, session: Arc<dyn Session>) -> Result<(), Fault> {
        let live = Arc::new(LiveSession::new(session));
        let sharing = sharing(live.session.revision(), self.options.sessions);
        let mut pool = self.pool();
        pool.end_opening(&key);
        if pool.state == State::Stopped {
            drop(pool);
            live.close_in_background(closed());
            return Err(self.stopped());
        }
        pool.sharing = Some(sharing);
        let key = match sharing {
            Sharing::Everyone => {
                self.everyones.store(Some(live.clone()));
                SessionKey::Common
            }
            Sharing::OneProfile => key,
        };
        if let SessionKey::Of(profile) = &key {
            // Cannot fail: the session is new.
            live.principal.set(profile.principal.as_str().into()).ok();
        }
        pool.insert(key, live.clone());
        let (offered, revision) = (self.options.offered, live.session.revision());
        let other = offered.filter(|offered| is_other(*offered, revision));
        let news = other.filter(|_| !std::mem::replace(&mut pool.warned, true));
        drop(pool);
        if let Some(offered) = news {
            tracing::warn!(upstream = %self.name, %offered, %revision, "the server answered with another protocol revision");
        }
        tracing::info!(upstream = %self.name, %revision, "upstream ready");
        self.attach(live);
        Ok(())
    }

    /// Subscribes to the session's notifications and to its loss.
    fn attach(self: &Arc<Self>, live: Arc<LiveSession>) {
        let (core, principal) = (Arc::downgrade(self), live.principal.clone());
        let hear = move |notification| {
            if let Some(core) = core.upgrade() {
                core.handle_notification(&principal, notification);
            }
        };
        self.log_span().in_scope(|| live.session.on_event(Box::new(hear)));
        if must_listen(live.session.revision()) {
            tokio::spawn(self.clone().listen(live.clone()));
        }
        let core = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                fault = live.session.lost() => core.lost(&live, &fault),
                _ = live.lost() => {}
            }
        });
    }

    /// Names the server in the log lines of a session, which does not know the name. Of the highest
    /// level, because a filter of levels also removes spans.
    fn log_span(&self) -> tracing::Span {
        tracing::error_span!("server", name = %self.name)
    }

    fn unopened(&self, key: &SessionKey, broken: ConnectError) -> Fault {
        let ConnectError { fault, permanent } = broken;
        let mut pool = self.pool();
        pool.end_opening(key);
        pool.failures = pool.failures.saturating_add(1);
        let pause = if permanent { self.options.restart.recheck } else { self.pause_after(pool.failures) };
        pool.retry_at = Some(Instant::now() + pause);
        let is_news = pool.blame(&fault);
        if !pool.has_sessions() {
            pool.enter(if permanent { State::Failed } else { State::Lost });
            self.make_stale();
        }
        if is_news && !self.options.failure_is_told {
            tracing::warn!(upstream = %self.name, %fault, permanent, ?pause, "cannot connect to the upstream");
        } else {
            tracing::debug!(upstream = %self.name, %fault, ?pause, "still cannot connect to the upstream");
        }
        fault
    }

    /// Removes a session that was lost, and schedules the next connection.
    pub(super) fn lost(&self, live: &Arc<LiveSession>, fault: &Fault) {
        let mut pool = self.pool();
        let Some(key) = pool.remove(live) else { return };
        if self.everyones.load().as_ref().is_some_and(|everyones| Arc::ptr_eq(everyones, live)) {
            self.everyones.store(None);
        }
        let is_login = live.session.sign_in_tool().is_some()
            || fault.kind() == FaultKind::NotReady && !live.session.own_tools().is_empty();
        if is_login {
            drop(pool);
            return self.login_changed(live, fault);
        }
        let restart = &self.options.restart;
        let was_stable = live.served.load(Ordering::Relaxed) || live.opened.elapsed() >= restart.stable;
        pool.failures = if was_stable { 1 } else { pool.failures.saturating_add(1) };
        match fault.kind() {
            // Counted once, however many calls were in flight. A server that leaves after a quiet
            // time may do so on purpose.
            FaultKind::ServerExited if live.users() > 0 || !was_stable => self.breaker.failed(fault),
            // It hung and is replaced, so the failures say nothing about its successor.
            FaultKind::Timeout => self.breaker.allow_trial(),
            _ => {}
        }
        let pause = self.pause_after(pool.failures).min(restart.relapse_ceiling);
        pool.retry_at = Some(Instant::now() + pause);
        pool.lost += 1;
        let is_news = pool.blame(fault);
        if !pool.has_sessions() {
            pool.main = key;
            let next = if pool.is_opening() { State::Connecting } else { State::Lost };
            pool.enter(next);
            self.make_stale();
        }
        drop(pool);
        if is_news {
            tracing::warn!(upstream = %self.name, %fault, ?pause, "upstream lost");
        } else {
            tracing::debug!(upstream = %self.name, %fault, ?pause, "upstream lost again");
        }
        live.clone().close_in_background(fault.clone());
        self.attention.notify_one();
        self.bump();
    }

    /// Connects at once after a caller has signed in or out: nothing failed.
    fn login_changed(&self, live: &Arc<LiveSession>, why: &Fault) {
        tracing::info!(upstream = %self.name, "{why}");
        live.clone().close_in_background(why.clone());
        self.attention.notify_one();
        self.bump();
    }

    /// Handles a notification that belongs to no call.
    pub(super) fn handle_notification(
        &self,
        principal: &Arc<OnceLock<Arc<str>>>,
        notification: Notification,
    ) {
        let changed: &[Kind] = match notification.method.as_ref() {
            method::TOOLS_CHANGED => &[Kind::Tools],
            method::PROMPTS_CHANGED => &[Kind::Prompts],
            method::RESOURCES_CHANGED => &[Kind::Resources, Kind::Templates],
            method::ACKNOWLEDGED => return,
            _ => {
                self.tell(Event { notification, principal: principal.get().cloned() });
                return;
            }
        };
        let bits = changed.iter().fold(0, |bits, kind| bits | bit(*kind));
        self.announced.fetch_or(bits, Ordering::AcqRel);
        // After `announced`: `refresh` clears the one and then looks at the other.
        self.unread.fetch_or(bits, Ordering::AcqRel);
        self.changed.fetch_or(bits, Ordering::AcqRel);
        self.change.notify_one();
    }

    /// The fault for callers while the server is not connected.
    pub(super) fn away(&self, why: Option<&Fault>) -> Fault {
        let pool = self.pool();
        let why = why.or(pool.last_error.as_ref().map(|(fault, _)| fault));
        faults::away(&self.name, why, pool.pause().map(|at| at - Instant::now()))
    }
}

/// The fault of calls whose session was closed.
pub(super) fn closed() -> Fault {
    Fault::new(FaultKind::ConnectionLost, "the session was closed")
}

/// Waits for the outcome of an opening.
pub(super) async fn ended(mut pending: Pending) -> Result<(), Fault> {
    match pending.wait_for(Option::is_some).await {
        Ok(outcome) => outcome.clone().unwrap_or(Ok(())),
        Err(_) => Err(closed()),
    }
}
