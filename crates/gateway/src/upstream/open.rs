//! Opening sessions, finding the right one for a call, and noticing when one is gone.

use super::{
    Broken, Event, Profile, Session,
    book::{Book, Choice, Opening, Pending},
    core::Core,
    era::{Sharing, must_listen, sharing},
    live::{Held, Key, Live},
    loops,
    offer::Kind,
    options::Sessions,
    status::State,
    supervise::bit,
    told,
};
use std::{
    sync::{Arc, OnceLock, atomic::Ordering},
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use trunkline_protocol::{Call, Fault, FaultKind, Notification, method};
use trunkline_resilience::{before, within_time};

/// Room for a connection to give up by itself, with a better reason, before it is dropped.
const CONNECT_GRACE: Duration = Duration::from_secs(1);

impl Core {
    /// The session for a call, if there is one now.
    pub(super) fn session_now(self: &Arc<Self>, call: &Call) -> Option<Held> {
        if let Some(held) = self.everyones.load().as_ref().and_then(Live::hold) {
            return Some(held);
        }
        match self.choose(&Profile::of(&call.caller, call.params.as_ref())).0 {
            Choice::Use(held) => Some(held),
            _ => None,
        }
    }

    /// The session for a call. A server that was well is waited for while it starts; one that is away, for a moment only.
    pub(super) async fn session_for(self: &Arc<Self>, call: &Call) -> Result<Held, Fault> {
        let profile = Profile::of(&call.caller, call.params.as_ref());
        let patience = Instant::now() + self.options.patience;
        loop {
            let (choice, failing) = self.choose(&profile);
            match choice {
                Choice::Use(held) => return Ok(held),
                Choice::Wait(pending) if failing => match before(patience, ended(pending)).await {
                    Some(outcome) => outcome.map_err(|why| self.away(Some(&why)))?,
                    None => return Err(self.away(None)),
                },
                Choice::Wait(pending) => ended(pending).await.map_err(|why| self.away(Some(&why)))?,
                Choice::Pause(until) if until <= patience => sleep_until(until).await,
                Choice::Pause(_) => return Err(self.away(None)),
                // The opening has begun; the next turn waits for it.
                Choice::Open(..) => {}
                Choice::Stopped => return Err(told::stopped(&self.name)),
                Choice::Full => return Err(told::no_room(&self.name, "together", self.options.pool.most)),
                Choice::PrincipalFull => {
                    return Err(told::no_room(&self.name, "of this caller", self.options.pool.per_principal));
                }
            }
        }
    }

    fn choose(self: &Arc<Self>, profile: &Profile) -> (Choice, bool) {
        let mut book = self.book();
        let mut choice = book.choose(profile, &self.options);
        if let Choice::Open(key, evicted) = &mut choice {
            self.open(&mut book, key.clone());
            if let Some(evicted) = evicted.take() {
                evicted.bury(closed());
            }
        }
        (choice, book.failures > 0 && !book.has_sessions())
    }

    /// Begins to open a session, beside whoever wants it.
    pub(super) fn open(self: &Arc<Self>, book: &mut Book, key: Key) -> Pending {
        let (tell, done) = watch::channel(None);
        let (core, whose) = (self.clone(), key.clone());
        let task = tokio::spawn(async move {
            let outcome = core.connect(&whose).await;
            let outcome = core.opened(whose, outcome);
            tell.send_replace(Some(outcome));
        });
        book.begin(key, Opening { done: done.clone(), task: task.abort_handle() });
        self.bump();
        done
    }

    async fn connect(&self, key: &Key) -> Result<Arc<dyn Session>, Broken> {
        let profile = match key {
            Key::Of(profile) => profile.clone(),
            Key::Common => Profile {
                principal: String::new(),
                capabilities: declared(self.options.sessions).to_owned(),
                client: None,
            },
        };
        let limit = self.options.timeouts.connect();
        let connecting = within_time(limit + CONNECT_GRACE, self.connect.connect(profile));
        let session = connecting.await.unwrap_or_else(|| {
            let fault = Fault::new(FaultKind::Timeout, format!("no connection within {limit:?}"));
            Err(Broken { fault, permanent: false })
        })?;
        match loops::check(&session.introduction(), self.options.instance.as_deref()) {
            Ok(()) => Ok(session),
            Err(fault) => {
                session.close().await;
                Err(Broken { fault, permanent: true })
            }
        }
    }

    fn opened(self: &Arc<Self>, key: Key, outcome: Result<Arc<dyn Session>, Broken>) -> Result<(), Fault> {
        let outcome = match outcome {
            Ok(session) => self.welcome(key, session),
            Err(broken) => Err(self.unopened(&key, broken)),
        };
        self.attention.notify_one();
        self.bump();
        outcome
    }

    fn welcome(self: &Arc<Self>, key: Key, session: Arc<dyn Session>) -> Result<(), Fault> {
        let live = Arc::new(Live::new(session, self.breaker()));
        let sharing = sharing(live.session.revision(), self.options.sessions);
        let mut book = self.book();
        book.end_opening(&key);
        if book.state == State::Stopped {
            drop(book);
            live.bury(closed());
            return Err(told::stopped(&self.name));
        }
        book.sharing = Some(sharing);
        let key = match sharing {
            Sharing::Everyone => {
                self.everyones.store(Some(live.clone()));
                Key::Common
            }
            Sharing::OneProfile => key,
        };
        if let Key::Of(profile) = &key {
            // The session is new, so that nobody has set it.
            live.principal.set(profile.principal.as_str().into()).ok();
        }
        book.insert(key, live.clone());
        drop(book);
        tracing::info!(upstream = %self.name, revision = %live.session.revision(), "upstream ready");
        self.attach(live);
        Ok(())
    }

    /// Hears what the session says, and notices its end.
    fn attach(self: &Arc<Self>, live: Arc<Live>) {
        let (core, principal) = (Arc::downgrade(self), live.principal.clone());
        live.session.on_event(Box::new(move |notification| {
            if let Some(core) = core.upgrade() {
                core.hear(&principal, notification);
            }
        }));
        if must_listen(live.session.revision()) {
            tokio::spawn(self.clone().listen(live.clone()));
        }
        let core = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                fault = live.session.lost() => core.lost(&live, &fault),
                _ = live.gone() => {}
            }
        });
    }

    fn unopened(&self, key: &Key, broken: Broken) -> Fault {
        let Broken { fault, permanent } = broken;
        let mut book = self.book();
        book.end_opening(key);
        book.failures = book.failures.saturating_add(1);
        let pause = if permanent { self.options.restart.recheck } else { self.pause_after(book.failures) };
        book.retry_at = Some(Instant::now() + pause);
        book.blame(&fault);
        if !book.has_sessions() {
            book.enter(if permanent { State::Failed } else { State::Lost });
            self.make_stale();
        }
        tracing::warn!(upstream = %self.name, %fault, permanent, ?pause, "upstream does not connect");
        fault
    }

    /// A session is gone that nobody closed.
    pub(super) fn lost(&self, live: &Arc<Live>, fault: &Fault) {
        let mut book = self.book();
        let Some(key) = book.remove(live) else { return };
        if self.everyones.load().as_ref().is_some_and(|everyones| Arc::ptr_eq(everyones, live)) {
            self.everyones.store(None);
        }
        let restart = &self.options.restart;
        let was_stable = live.served.load(Ordering::Relaxed) || live.opened.elapsed() >= restart.stable;
        book.failures = if was_stable { 1 } else { book.failures.saturating_add(1) };
        let pause = self.pause_after(book.failures).min(restart.relapse_ceiling);
        book.retry_at = Some(Instant::now() + pause);
        book.lost += 1;
        book.blame(fault);
        if !book.has_sessions() {
            book.main = key;
            let next = if book.is_opening() { State::Connecting } else { State::Lost };
            book.enter(next);
            self.make_stale();
        }
        drop(book);
        tracing::warn!(upstream = %self.name, %fault, ?pause, "upstream lost");
        live.clone().bury(fault.clone());
        self.attention.notify_one();
        self.bump();
    }

    /// A notification that belongs to no call.
    pub(super) fn hear(&self, principal: &Arc<OnceLock<Arc<str>>>, notification: Notification) {
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
        self.changed.fetch_or(bits, Ordering::AcqRel);
        self.change.notify_one();
    }

    /// That the server is away, and why.
    pub(super) fn away(&self, why: Option<&Fault>) -> Fault {
        let book = self.book();
        let why = why.or(book.last_error.as_ref().map(|(fault, _)| fault));
        told::away(&self.name, why, book.pause().map(|at| at - Instant::now()))
    }
}

/// What calls hear when their session was closed for good.
pub(super) fn closed() -> Fault {
    Fault::new(FaultKind::ConnectionLost, "the session was closed")
}

/// Waits for the end of an opening.
pub(super) async fn ended(mut pending: Pending) -> Result<(), Fault> {
    match pending.wait_for(Option::is_some).await {
        Ok(outcome) => outcome.clone().unwrap_or(Ok(())),
        Err(_) => Err(closed()),
    }
}

/// What the gateway's own session declares. Some servers list a tool only for clients that can do what it needs, and the lists
/// are for all callers; one who cannot is spared the question. A session that everybody shares is asked nothing at all.
fn declared(sessions: Sessions) -> &'static str {
    match sessions {
        Sessions::PerCaller => r#"{"roots":{},"sampling":{},"elicitation":{"form":{},"url":{}}}"#,
        Sessions::Shared => "{}",
    }
}
