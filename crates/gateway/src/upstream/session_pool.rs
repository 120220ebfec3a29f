//! The sessions of an upstream that are open or being opened, and the upstream's state. Changed
//! only under its lock, which is never held across an await.

use super::{
    era::Sharing,
    live_session::{LiveSession, SessionKey, SessionLease},
    options::{Sessions, UpstreamOptions},
    status::State,
};
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Weak},
    time::{Duration, SystemTime},
};
use tokio::{sync::watch, task::AbortHandle, time::Instant};
use trunkline_protocol::{Fault, Profile, Raw, Revision};
use trunkline_resilience::Moment;

/// Client capabilities that decide nothing for a legacy server: tasks on the client are not
/// relayed, and it knows no extensions.
const UNDECLARED: [&str; 2] = ["tasks", "extensions"];
/// Most sets of capabilities whose lists are remembered as compared.
const MAX_COMPARED: usize = 64;

pub(super) struct SessionPool {
    pub(super) state: State,
    /// When the state began, by the monotonic and the system clock.
    pub(super) since: (Moment, SystemTime),
    pub(super) last_error: Option<(Fault, SystemTime)>,
    /// Failures in a row: failed connections, and sessions that were lost before they were stable.
    pub(super) failures: u32,
    /// No session is opened before this time.
    pub(super) retry_at: Option<Instant>,
    /// True if the server was stopped by command; its state is then `Stopped`.
    pub(super) halted: bool,
    /// Number of restarts after a failure or by command.
    pub(super) started_again: u64,
    /// Numbers of sessions that were opened and lost so far.
    pub(super) opened: u64,
    pub(super) lost: u64,
    /// True once it was logged that the server answered with another revision.
    pub(super) warned: bool,
    /// If the server should run now.
    pub(super) awake: Awake,
    /// The callers that may share a session; known after the first connection.
    pub(super) sharing: Option<Sharing>,
    /// The session that is opened again when the last one is lost.
    pub(super) main: SessionKey,
    /// The session from which lists are read.
    lister: Weak<LiveSession>,
    /// The capabilities, in the clients' JSON text, whose lists add nothing to those of the lister.
    compared: HashSet<String>,
    sessions: HashMap<SessionKey, Arc<LiveSession>>,
    opening: HashMap<SessionKey, Opening>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Awake {
    No,
    Yes,
}

/// A session that is being opened. All waiting calls get the outcome.
pub(super) struct Opening {
    pub(super) done: Pending,
    pub(super) task: AbortHandle,
}

/// The outcome of an opening, once it has ended.
pub(super) type Pending = watch::Receiver<Option<Result<(), Fault>>>;

/// The way in which a call gets its session.
pub(super) enum Choice {
    Use(SessionLease),
    /// A session is being opened that fits, or that will tell if callers can share it.
    Wait(Pending),
    /// A session must be opened, and this other one evicted for it if the pool is full.
    Open(SessionKey, Option<Arc<LiveSession>>),
    /// The backoff ends at this time.
    Pause(Instant),
    Stopped,
    /// All sessions of the pool are in use.
    Full,
    /// All sessions of this principal are in use.
    PrincipalFull,
}

impl SessionPool {
    pub(super) fn new(awake: Awake) -> Self {
        Self {
            state: State::Idle,
            since: (Moment::now(), SystemTime::now()),
            last_error: None,
            failures: 0,
            retry_at: None,
            halted: false,
            started_again: 0,
            opened: 0,
            lost: 0,
            warned: false,
            awake,
            sharing: None,
            main: SessionKey::Common,
            lister: Weak::new(),
            compared: HashSet::new(),
            sessions: HashMap::new(),
            opening: HashMap::new(),
        }
    }

    pub(super) fn enter(&mut self, state: State) {
        if self.state != state && self.state != State::Stopped {
            self.state = state;
            self.since = (Moment::now(), SystemTime::now());
        }
    }

    /// Remembers the failure; true if it is the first one of an outage or differs from the last.
    pub(super) fn blame(&mut self, fault: &Fault) -> bool {
        let last = self.last_error.replace((fault.clone(), SystemTime::now()));
        self.failures <= 1 || last.is_none_or(|(last, _)| last.kind() != fault.kind())
    }

    /// The session for a caller, or how it gets one.
    pub(super) fn choose(&mut self, profile: &Profile, options: &UpstreamOptions) -> Choice {
        if self.state == State::Stopped {
            return Choice::Stopped;
        }
        let key = self.key_for(profile, options.sessions);
        if let Some(lease) = self.sessions.get(&key).and_then(LiveSession::lease) {
            return Choice::Use(lease);
        }
        if let Some(lease) = self.adopt(&key) {
            return Choice::Use(lease);
        }
        let pending = match self.sharing {
            Some(_) => self.opening.get(&key),
            // It is known only after the first session has opened if callers can share one.
            None => self.opening.values().next(),
        };
        if let Some(opening) = pending {
            return Choice::Wait(opening.done.clone());
        }
        if let Some(until) = self.pause() {
            return Choice::Pause(until);
        }
        self.make_room(key, options)
    }

    fn key_for(&self, profile: &Profile, sessions: Sessions) -> SessionKey {
        match (sessions, self.sharing) {
            (Sessions::Shared, _) | (_, Some(Sharing::Everyone)) => SessionKey::Common,
            (Sessions::PerCaller, _) => SessionKey::Of(profile.clone()),
        }
    }

    /// Gives the gateway's own session to a caller whose client declares the same as the gateway
    /// did, which is nothing. Any other caller gets its own session: a server decides by the
    /// declared capabilities what it asks, and how it refuses.
    fn adopt(&mut self, key: &SessionKey) -> Option<SessionLease> {
        let SessionKey::Of(profile) = key else { return None };
        if self.sharing != Some(Sharing::OneProfile) || !declares_nothing(&profile.capabilities) {
            return None;
        }
        let own = self.sessions.get(&SessionKey::Common)?;
        let lease = own.lease()?;
        // Set once: a session has one owner for life.
        own.principal.set(profile.principal.as_str().into()).ok();
        if let Some(own) = self.sessions.remove(&SessionKey::Common) {
            self.sessions.insert(key.clone(), own);
        }
        self.main = key.clone();
        Some(lease)
    }

    fn make_room(&mut self, key: SessionKey, options: &UpstreamOptions) -> Choice {
        if let SessionKey::Of(profile) = &key {
            let of_principal = |other: &SessionKey| matches!(other, SessionKey::Of(other) if other.principal == profile.principal);
            let count = self.keys().filter(|other| of_principal(other)).count();
            if count >= options.pool.per_principal {
                return match self.evict(of_principal) {
                    Some(evicted) => Choice::Open(key, Some(evicted)),
                    None => Choice::PrincipalFull,
                };
            }
        }
        if self.keys().count() >= options.pool.most {
            return match self.evict(|_| true) {
                Some(evicted) => Choice::Open(key, Some(evicted)),
                None => Choice::Full,
            };
        }
        Choice::Open(key, None)
    }

    fn keys(&self) -> impl Iterator<Item = &SessionKey> {
        self.sessions.keys().chain(self.opening.keys())
    }

    /// Removes the least recently used session.
    fn evict(&mut self, which: impl Fn(&SessionKey) -> bool) -> Option<Arc<LiveSession>> {
        let mut unused: Vec<_> =
            self.sessions.iter().filter(|(key, live)| which(key) && live.users() == 0).collect();
        unused.sort_by_key(|(_, live)| live.last_used());
        let key = unused.into_iter().find(|(_, live)| live.close_if_unused())?.0.clone();
        self.sessions.remove(&key)
    }

    /// The end of the backoff, if it is not over.
    pub(super) fn pause(&self) -> Option<Instant> {
        self.retry_at.filter(|at| *at > Instant::now())
    }

    pub(super) fn begin(&mut self, key: SessionKey, opening: Opening) {
        self.awake = Awake::Yes;
        if self.sessions.is_empty() {
            let has_failed = matches!(self.state, State::Lost | State::Failed);
            self.started_again += u64::from(has_failed && self.opening.is_empty());
            self.enter(State::Connecting);
        }
        self.opening.insert(key, opening);
    }

    pub(super) fn any_opening(&self) -> Option<Pending> {
        self.opening.values().next().map(|opening| opening.done.clone())
    }

    pub(super) fn end_opening(&mut self, key: &SessionKey) {
        self.opening.remove(key);
    }

    pub(super) fn insert(&mut self, key: SessionKey, live: Arc<LiveSession>) {
        self.main = key.clone();
        self.opened += 1;
        self.retry_at = None;
        self.sessions.insert(key, live);
        self.enter(State::Ready);
    }

    /// Removes a lost session; returns its key if it was still there.
    pub(super) fn remove(&mut self, live: &Arc<LiveSession>) -> Option<SessionKey> {
        let key = self.sessions.iter().find(|(_, other)| Arc::ptr_eq(other, live))?.0.clone();
        self.sessions.remove(&key);
        Some(key)
    }

    /// The session from which lists are read. It stays the same while it lives, because a server's
    /// lists may depend on the capabilities of the client.
    pub(super) fn lister(&mut self) -> Option<Arc<LiveSession>> {
        if let Some(live) = self.lister.upgrade().filter(|live| !live.is_closed()) {
            return Some(live);
        }
        let newest = || self.sessions.values().max_by_key(|live| live.opened);
        let live = self.sessions.get(&SessionKey::Common).or_else(newest).cloned()?;
        self.compared.clear();
        self.lister = Arc::downgrade(&live);
        Some(live)
    }

    /// Number of restarts of the server or of replaced sessions. A start after an idle time is
    /// not counted.
    pub(super) fn restarts(&self) -> u64 {
        self.started_again.max(self.lost.min(self.opened.saturating_sub(1)))
    }

    pub(super) fn set_lister(&mut self, live: &Arc<LiveSession>) {
        self.lister = Arc::downgrade(live);
    }

    /// Remembers that a session with these capabilities lists nothing more than the lister.
    pub(super) fn compared(&mut self, capabilities: String) {
        if self.compared.len() >= MAX_COMPARED {
            self.compared.clear();
        }
        self.compared.insert(capabilities);
    }

    /// True if a session with these capabilities may list more than the lister. A server that is
    /// not connected is not started for this.
    pub(super) fn may_list_more(&self, capabilities: &str) -> bool {
        self.sharing == Some(Sharing::OneProfile)
            && self.has_sessions()
            && !declares_nothing(capabilities)
            && !self.compared.contains(capabilities)
    }

    /// A session whose lists must be compared with those of the lister, and its capabilities.
    pub(super) fn next_to_compare(&self, lister: &Arc<LiveSession>) -> Option<(String, Arc<LiveSession>)> {
        self.sessions.iter().find_map(|(key, live)| {
            let SessionKey::Of(profile) = key else { return None };
            let other = !Arc::ptr_eq(live, lister) && self.may_list_more(&profile.capabilities);
            other.then(|| (profile.capabilities.clone(), live.clone()))
        })
    }

    /// True if the profile has a session, or one is being opened for it.
    pub(super) fn has(&self, profile: &Profile) -> bool {
        self.keys().any(|key| matches!(key, SessionKey::Of(other) if other == profile))
    }

    /// Remembers the capabilities of the lister as compared; returns true if they were not.
    pub(super) fn set_listed(&mut self, lister: &Arc<LiveSession>) -> bool {
        let key = self.sessions.iter().find(|(_, other)| Arc::ptr_eq(other, lister)).map(|(key, _)| key);
        let Some(SessionKey::Of(profile)) = key else { return false };
        let news = self.may_list_more(&profile.capabilities);
        self.compared(profile.capabilities.clone());
        news
    }

    /// The revision of the newest session.
    pub(super) fn revision(&self) -> Option<Revision> {
        let newest = self.sessions.values().max_by_key(|live| live.opened)?;
        Some(newest.session.revision())
    }

    pub(super) fn has_sessions(&self) -> bool {
        !self.sessions.is_empty()
    }

    pub(super) fn is_opening(&self) -> bool {
        !self.opening.is_empty()
    }

    pub(super) fn sessions(&self) -> impl Iterator<Item = (&SessionKey, &Arc<LiveSession>)> {
        self.sessions.iter()
    }

    /// Removes the gateway's own session if callers have sessions and no call uses it.
    pub(super) fn retire_own(&mut self) -> Option<Arc<LiveSession>> {
        if self.sharing != Some(Sharing::OneProfile) || self.sessions.len() < 2 {
            return None;
        }
        self.sessions.get(&SessionKey::Common).filter(|own| own.close_if_unused())?;
        self.sessions.remove(&SessionKey::Common)
    }

    /// Removes sessions that were idle for this time, except the one that lists are read from.
    pub(super) fn retire_idle(&mut self, idle: Duration) -> Vec<Arc<LiveSession>> {
        let Some(lister) = self.lister() else { return Vec::new() };
        let old = |live: &Arc<LiveSession>| live.last_used().elapsed() >= idle && !Arc::ptr_eq(live, &lister);
        let keys: Vec<SessionKey> = self
            .sessions
            .iter()
            .filter(|(_, live)| old(live) && live.close_if_unused())
            .map(|(key, _)| key.clone())
            .collect();
        keys.iter().filter_map(|key| self.sessions.remove(key)).collect()
    }

    /// Removes all sessions and aborts openings.
    pub(super) fn clear(&mut self, state: State) -> Vec<Arc<LiveSession>> {
        self.opening.drain().for_each(|(_, opening)| opening.task.abort());
        self.awake = Awake::No;
        self.enter(state);
        self.sessions.drain().map(|(_, live)| live).collect()
    }
}

/// True if the client declares nothing that means anything to a legacy server.
fn declares_nothing(capabilities: &str) -> bool {
    let Ok(capabilities) = Raw::parse(capabilities.to_owned()) else { return false };
    capabilities.is_object() && capabilities.members().all(|(name, _)| UNDECLARED.contains(&&*name))
}
