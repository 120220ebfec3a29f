//! The open sessions.

use super::Session;
use parking_lot::Mutex;
use std::{collections::HashMap, sync::Arc, time::Duration};
use trunkline_protocol::Caller;
use trunkline_resilience::Moment;

/// A session idle for this long may be evicted when the limit is reached.
const SILENT: Duration = Duration::from_mins(1);

pub(crate) struct Sessions {
    open: Mutex<HashMap<String, Arc<Session>>>,
    most: usize,
    most_per_caller: usize,
    idle: Duration,
}

/// The limit is reached, and no session can be evicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoRoom;

impl Sessions {
    pub(crate) fn new(most: usize, most_per_caller: usize, idle: Duration) -> Self {
        Self { open: Mutex::default(), most, most_per_caller, idle }
    }

    pub(crate) fn len(&self) -> usize {
        self.open.lock().len()
    }

    pub(crate) fn add(&self, session: &Arc<Session>) -> Result<(), NoRoom> {
        if !self.has_room_for(&session.caller) {
            self.sweep();
            self.make_room_for(&session.caller);
        }
        if !self.has_room_for(&session.caller) {
            return Err(NoRoom);
        }
        let mut open = self.open.lock();
        open.insert(session.id.clone(), session.clone());
        Ok(())
    }

    /// The session with this id, if it belongs to the caller. Another caller's session gives
    /// `None`, like an unknown id. So does one that was opened with other headers or another token
    /// for servers: its calls would use those.
    pub(crate) fn find(&self, id: &str, caller: &Caller) -> Option<Arc<Session>> {
        let is_own = |session: &&Arc<Session>| {
            session.caller.id == caller.id && session.caller.carried == caller.carried
        };
        let session = self.open.lock().get(id).filter(is_own).cloned()?;
        session.touch();
        Some(session)
    }

    pub(crate) fn remove(&self, id: &str) {
        let session = self.open.lock().remove(id);
        if let Some(session) = session {
            session.end();
        }
    }

    /// True if neither all sessions nor those of the caller are at their limit.
    fn has_room_for(&self, caller: &Arc<Caller>) -> bool {
        let open = self.open.lock();
        open.len() < self.most && !self.has_share(&open, caller)
    }

    /// True if the caller has all the sessions that it may have. The local caller is the only one
    /// of its server, so it shares with nobody.
    fn has_share(&self, open: &HashMap<String, Arc<Session>>, caller: &Arc<Caller>) -> bool {
        let own = || open.values().filter(|session| session.caller.id == caller.id).count();
        !Caller::is_local(caller) && own() >= self.most_per_caller
    }

    /// At a limit, evicts the session idle longest, if it has been idle for [`SILENT`]. At the
    /// limit of a caller it is one of its own.
    fn make_room_for(&self, caller: &Arc<Caller>) {
        let mut open = self.open.lock();
        let own_only = self.has_share(&open, caller);
        if open.len() < self.most && !own_only {
            return;
        }
        let candidates = open.values().filter(|session| !own_only || session.caller.id == caller.id);
        let silent = candidates.min_by_key(|session| session.silent_since());
        let silent = silent
            .filter(|session| session.silent_since().elapsed() >= SILENT)
            .map(|session| session.id.clone());
        let gone = silent.and_then(|id| open.remove(&id));
        drop(open);
        if let Some(session) = gone {
            session.end();
        }
    }

    /// Ends sessions that exceeded the idle limit.
    pub(crate) fn sweep(&self) {
        let now = Moment::now();
        let silent = |session: &Arc<Session>| now - session.silent_since() >= self.idle;
        let gone: Vec<_> =
            self.open.lock().extract_if(|_, session| silent(session)).map(|(_, session)| session).collect();
        for session in gone {
            session.end();
        }
    }

    pub(crate) fn end_all(&self) {
        let all: Vec<_> = self.open.lock().drain().map(|(_, session)| session).collect();
        for session in all {
            session.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        outgoing::{Outgoing, event_queue},
        session::{Introduction, Outlet},
    };
    use trunkline_protocol::{Raw, Revision};

    fn session(caller: &str) -> Arc<Session> {
        let caller = Arc::new(Caller::named(caller));
        let client = Introduction { capabilities: Raw::empty_object(), info: None };
        Session::new(
            caller,
            Revision::NEWEST_LEGACY,
            client,
            Outlet::Duplex(Outgoing::Queue(event_queue(1).0)),
        )
    }

    #[tokio::test(start_paused = true)]
    async fn s01_a_session_is_not_found_with_other_headers_for_servers() {
        let carrying = |value: &str| {
            Arc::new(
                Caller::named("alice").carrying([("x-tenant".to_owned(), value.to_owned())].into(), None),
            )
        };
        let sessions = Sessions::new(2, 2, Duration::from_mins(1));
        let opened = Session { caller: carrying("one"), ..Arc::into_inner(session("alice")).unwrap() };
        let opened = Arc::new(opened);
        sessions.add(&opened).unwrap();
        assert!(sessions.find(&opened.id, &carrying("one")).is_some());
        assert!(sessions.find(&opened.id, &carrying("two")).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn s01_a_session_is_found_by_its_owner_only() {
        let sessions = Sessions::new(2, 2, Duration::from_mins(1));
        let alices = session("alice");
        sessions.add(&alices).unwrap();
        assert!(sessions.find(&alices.id, &alices.caller).is_some());
        assert!(sessions.find(&alices.id, &session("bob").caller).is_none());
        sessions.remove(&alices.id);
        assert!(sessions.find(&alices.id, &alices.caller).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_that_are_silent_for_too_long_are_forgotten() {
        let sessions = Sessions::new(2, 2, Duration::from_mins(1));
        sessions.add(&session("a")).unwrap();
        tokio::time::advance(Duration::from_secs(59)).await;
        sessions.sweep();
        assert_eq!(sessions.len(), 1);
        tokio::time::advance(Duration::from_secs(1)).await;
        sessions.sweep();
        assert_eq!(sessions.len(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn s06_sessions_are_bounded_and_silent_ones_make_room() {
        let sessions = Sessions::new(2, 2, Duration::from_mins(1));
        sessions.add(&session("a")).unwrap();
        tokio::time::advance(Duration::from_secs(30)).await;
        sessions.add(&session("b")).unwrap();
        assert_eq!(sessions.add(&session("c")), Err(NoRoom));
        tokio::time::advance(Duration::from_secs(31)).await;
        assert_eq!(sessions.add(&session("c")), Ok(()));
        assert_eq!(sessions.len(), 2);
        let patient = Sessions::new(1, 1, Duration::from_hours(1));
        patient.add(&session("a")).unwrap();
        assert_eq!(patient.add(&session("b")), Err(NoRoom));
        tokio::time::advance(SILENT).await;
        assert_eq!(patient.add(&session("b")), Ok(()));
        assert_eq!(patient.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn s07_one_caller_has_its_share_and_replaces_only_its_own_idle_sessions() {
        let sessions = Sessions::new(4, 2, Duration::from_hours(1));
        let first = session("greedy");
        sessions.add(&first).unwrap();
        tokio::time::advance(Duration::from_millis(1)).await;
        sessions.add(&session("greedy")).unwrap();
        assert_eq!(sessions.add(&session("greedy")), Err(NoRoom));
        let modest = session("modest");
        sessions.add(&modest).unwrap();
        tokio::time::advance(SILENT).await;
        sessions.add(&session("greedy")).unwrap();
        assert!(sessions.find(&first.id, &first.caller).is_none());
        assert!(sessions.find(&modest.id, &modest.caller).is_some());
        assert_eq!(sessions.len(), 3);
    }
}
