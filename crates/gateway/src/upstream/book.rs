//! Book: which sessions are open or being opened, and what state that makes. Changed only under its lock, which nobody
//! holds while waiting.

use super::{
    connect::Profile,
    era::Sharing,
    live::{Held, Key, Live},
    options::{Sessions, UpstreamOptions},
    status::State,
};
use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::{Duration, SystemTime},
};
use tokio::{sync::watch, task::AbortHandle, time::Instant};
use trunkline_protocol::{Fault, Raw};
use trunkline_resilience::Unused;

/// What a server may ask of a client that declares it.
const INTERACTIVE: [&str; 4] = ["roots", "sampling", "elicitation", "tasks"];

pub(super) struct Book {
    pub(super) state: State,
    /// When the state began, by both clocks.
    pub(super) since: (Instant, SystemTime),
    /// When the supervisor meant to look at what is unused.
    pub(super) next_look: Option<Instant>,
    pub(super) unused: Unused,
    pub(super) last_error: Option<(Fault, SystemTime)>,
    /// Failures in a row: connections that did not come about, and sessions that were soon gone.
    pub(super) failures: u32,
    /// Until then no session is opened.
    pub(super) retry_at: Option<Instant>,
    /// Sessions that were opened and lost so far.
    pub(super) opened: u64,
    pub(super) lost: u64,
    /// Whether the server should run.
    pub(super) awake: Awake,
    /// What the server's era says about sharing, once it was heard.
    pub(super) sharing: Option<Sharing>,
    /// Whose session is opened again when the last one is lost.
    pub(super) main: Key,
    /// The session that lists are read from.
    lister: Weak<Live>,
    lives: HashMap<Key, Arc<Live>>,
    opening: HashMap<Key, Opening>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Awake {
    No,
    Yes,
}

/// A session on its way. The outcome is told to everybody who waits.
pub(super) struct Opening {
    pub(super) done: Pending,
    pub(super) task: AbortHandle,
}

/// The end of an opening: `Some` with its outcome.
pub(super) type Pending = watch::Receiver<Option<Result<(), Fault>>>;

/// What a call does to get its session.
pub(super) enum Choice {
    Use(Held),
    /// A session is on its way that will do, or will tell what to do.
    Wait(Pending),
    /// A session has to be opened, and another one closed for it where there is no room.
    Open(Key, Option<Arc<Live>>),
    /// Nothing is opened before this time.
    Pause(Instant),
    Stopped,
    /// Sessions are all in use: those of everybody, or those of this principal.
    Full,
    PrincipalFull,
}

impl Book {
    pub(super) fn new(awake: Awake) -> Self {
        Self {
            state: State::Idle,
            since: (Instant::now(), SystemTime::now()),
            next_look: None,
            unused: Unused::default(),
            last_error: None,
            failures: 0,
            retry_at: None,
            opened: 0,
            lost: 0,
            awake,
            sharing: None,
            main: Key::Common,
            lister: Weak::new(),
            lives: HashMap::new(),
            opening: HashMap::new(),
        }
    }

    pub(super) fn enter(&mut self, state: State) {
        if self.state != state && self.state != State::Stopped {
            self.state = state;
            self.since = (Instant::now(), SystemTime::now());
        }
    }

    pub(super) fn blame(&mut self, fault: &Fault) {
        self.last_error = Some((fault.clone(), SystemTime::now()));
    }

    /// The session for a caller, or the way to it.
    pub(super) fn choose(&mut self, profile: &Profile, options: &UpstreamOptions) -> Choice {
        if self.state == State::Stopped {
            return Choice::Stopped;
        }
        let key = self.key_for(profile, options.sessions);
        if let Some(held) = self.lives.get(&key).and_then(Live::hold) {
            return Choice::Use(held);
        }
        if let Some(held) = self.adopt(&key) {
            return Choice::Use(held);
        }
        let pending = match self.sharing {
            Some(_) => self.opening.get(&key),
            // Only the first session tells whether callers can share it.
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

    fn key_for(&self, profile: &Profile, sessions: Sessions) -> Key {
        match (sessions, self.sharing) {
            (Sessions::Shared, _) | (_, Some(Sharing::Everyone)) => Key::Common,
            (Sessions::PerCaller, _) => Key::Of(profile.clone()),
        }
    }

    /// Gives the gateway's own session to a caller that can do no more than the gateway said.
    fn adopt(&mut self, key: &Key) -> Option<Held> {
        let Key::Of(profile) = key else { return None };
        if self.sharing != Some(Sharing::OneProfile) || !is_plain(profile) {
            return None;
        }
        let own = self.lives.get(&Key::Common)?;
        let held = own.hold()?;
        // Nobody else sets it: a session has one owner for life.
        own.principal.set(profile.principal.as_str().into()).ok();
        if let Some(own) = self.lives.remove(&Key::Common) {
            self.lives.insert(key.clone(), own);
        }
        self.main = key.clone();
        Some(held)
    }

    fn make_room(&mut self, key: Key, options: &UpstreamOptions) -> Choice {
        if let Key::Of(profile) = &key {
            let of_principal =
                |other: &Key| matches!(other, Key::Of(other) if other.principal == profile.principal);
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

    fn keys(&self) -> impl Iterator<Item = &Key> {
        self.lives.keys().chain(self.opening.keys())
    }

    /// Takes out the session that was unused for longest.
    fn evict(&mut self, which: impl Fn(&Key) -> bool) -> Option<Arc<Live>> {
        let mut unused: Vec<_> =
            self.lives.iter().filter(|(key, live)| which(key) && live.users() == 0).collect();
        unused.sort_by_key(|(_, live)| live.last_used());
        let key = unused.into_iter().find(|(_, live)| live.close_if_unused())?.0.clone();
        self.lives.remove(&key)
    }

    /// The time before which nothing is opened, if there is one.
    pub(super) fn pause(&self) -> Option<Instant> {
        self.retry_at.filter(|at| *at > Instant::now())
    }

    pub(super) fn begin(&mut self, key: Key, opening: Opening) {
        self.awake = Awake::Yes;
        if self.lives.is_empty() {
            self.enter(State::Connecting);
        }
        self.opening.insert(key, opening);
    }

    pub(super) fn any_opening(&self) -> Option<Pending> {
        self.opening.values().next().map(|opening| opening.done.clone())
    }

    pub(super) fn end_opening(&mut self, key: &Key) {
        self.opening.remove(key);
    }

    pub(super) fn insert(&mut self, key: Key, live: Arc<Live>) {
        self.main = key.clone();
        self.opened += 1;
        self.retry_at = None;
        self.lives.insert(key, live);
        self.enter(State::Ready);
    }

    /// Takes out a session that is gone; whether it was still there.
    pub(super) fn remove(&mut self, live: &Arc<Live>) -> Option<Key> {
        let key = self.lives.iter().find(|(_, other)| Arc::ptr_eq(other, live))?.0.clone();
        self.lives.remove(&key);
        Some(key)
    }

    /// The session to read lists from. It stays the same for as long as it lives, because what a server lists may depend on
    /// what its client can do.
    pub(super) fn lister(&mut self) -> Option<Arc<Live>> {
        if let Some(live) = self.lister.upgrade().filter(|live| !live.is_closed()) {
            return Some(live);
        }
        let newest = || self.lives.values().max_by_key(|live| live.opened);
        let live = self.lives.get(&Key::Common).or_else(newest).cloned()?;
        self.lister = Arc::downgrade(&live);
        Some(live)
    }

    pub(super) fn has_sessions(&self) -> bool {
        !self.lives.is_empty()
    }

    pub(super) fn is_opening(&self) -> bool {
        !self.opening.is_empty()
    }

    pub(super) fn lives(&self) -> impl Iterator<Item = (&Key, &Arc<Live>)> {
        self.lives.iter()
    }

    /// The gateway's own session, when callers have sessions that tell the same and nobody uses it.
    pub(super) fn retire_own(&mut self) -> Option<Arc<Live>> {
        if self.sharing != Some(Sharing::OneProfile) || self.lives.len() < 2 {
            return None;
        }
        self.lives.get(&Key::Common).filter(|own| own.close_if_unused())?;
        self.lives.remove(&Key::Common)
    }

    /// Notes a pause, if there was one before the supervisor could look.
    pub(super) fn look(&mut self) {
        if let Some(due) = self.next_look.take() {
            self.unused.look(due);
        }
    }

    /// Sessions that nobody used for so long; the lister is left.
    pub(super) fn retire_idle(&mut self, idle: Duration) -> Vec<Arc<Live>> {
        let Some(lister) = self.lister() else { return Vec::new() };
        let unused = |live: &Arc<Live>| self.unused.since(live.last_used()).elapsed() >= idle;
        let old = |live: &Arc<Live>| unused(live) && !Arc::ptr_eq(live, &lister);
        let keys: Vec<Key> = self
            .lives
            .iter()
            .filter(|(_, live)| old(live) && live.close_if_unused())
            .map(|(key, _)| key.clone())
            .collect();
        keys.iter().filter_map(|key| self.lives.remove(key)).collect()
    }

    /// Takes out everything, for good or until the next call.
    pub(super) fn clear(&mut self, state: State) -> Vec<Arc<Live>> {
        self.opening.drain().for_each(|(_, opening)| opening.task.abort());
        self.awake = Awake::No;
        self.enter(state);
        self.lives.drain().map(|(_, live)| live).collect()
    }
}

/// Whether the server could ask nothing of this client.
fn is_plain(profile: &Profile) -> bool {
    let Ok(capabilities) = Raw::parse(profile.capabilities.clone()) else { return false };
    capabilities
        .object()
        .is_some_and(|capabilities| INTERACTIVE.iter().all(|name| capabilities.get(name).is_none()))
}
