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
    idle: Duration,
}

/// The limit is reached, and no session can be evicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoRoom;

impl Sessions {
    pub(crate) fn new(most: usize, idle: Duration) -> Self {
        Self { open: Mutex::default(), most, idle }
    }

    pub(crate) fn len(&self) -> usize {
        self.open.lock().len()
    }

    pub(crate) fn add(&self, session: &Arc<Session>) -> Result<(), NoRoom> {
        let full = self.open.lock().len() >= self.most;
        if full {
            self.sweep();
            self.make_room();
        }
        let mut open = self.open.lock();
        if open.len() >= self.most {
            return Err(NoRoom);
        }
        open.insert(session.id.clone(), session.clone());
        Ok(())
    }

    /// The session with this id, if it belongs to the caller. Another caller's session gives
    /// `None`, like an unknown id.
    pub(crate) fn find(&self, id: &str, caller: &Caller) -> Option<Arc<Session>> {
        let session = self.open.lock().get(id).filter(|session| session.caller.id == caller.id).cloned()?;
        session.touch();
        Some(session)
    }

    pub(crate) fn remove(&self, id: &str) {
        let session = self.open.lock().remove(id);
        if let Some(session) = session {
            session.end();
        }
    }

    /// At the limit, evicts the session idle longest, if it has been idle for [`SILENT`].
    fn make_room(&self) {
        let mut open = self.open.lock();
        if open.len() < self.most {
            return;
        }
        let silent = open.values().min_by_key(|session| session.silent_since());
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
        outgoing::Outgoing,
        session::{Introduction, Outlet},
    };
    use tokio::sync::mpsc;
    use trunkline_protocol::{Raw, Revision};

    fn session(caller: &str) -> Arc<Session> {
        let caller = Arc::new(Caller { id: caller.to_owned(), roles: Vec::new(), scopes: Vec::new() });
        let client = Introduction { capabilities: Raw::empty_object(), info: None };
        Session::new(
            caller,
            Revision::NEWEST_LEGACY,
            client,
            Outlet::Duplex(Outgoing::Queue(mpsc::channel(1).0)),
        )
    }

    #[tokio::test(start_paused = true)]
    async fn s01_a_session_is_found_by_its_owner_only() {
        let sessions = Sessions::new(2, Duration::from_mins(1));
        let alices = session("alice");
        sessions.add(&alices).unwrap();
        assert!(sessions.find(&alices.id, &alices.caller).is_some());
        assert!(sessions.find(&alices.id, &session("bob").caller).is_none());
        sessions.remove(&alices.id);
        assert!(sessions.find(&alices.id, &alices.caller).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_that_are_silent_for_too_long_are_forgotten() {
        let sessions = Sessions::new(2, Duration::from_mins(1));
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
        let sessions = Sessions::new(2, Duration::from_mins(1));
        sessions.add(&session("a")).unwrap();
        tokio::time::advance(Duration::from_secs(30)).await;
        sessions.add(&session("b")).unwrap();
        assert_eq!(sessions.add(&session("c")), Err(NoRoom));
        tokio::time::advance(Duration::from_secs(31)).await;
        assert_eq!(sessions.add(&session("c")), Ok(()));
        assert_eq!(sessions.len(), 2);
        let patient = Sessions::new(1, Duration::from_hours(1));
        patient.add(&session("a")).unwrap();
        assert_eq!(patient.add(&session("b")), Err(NoRoom));
        tokio::time::advance(SILENT).await;
        assert_eq!(patient.add(&session("b")), Ok(()));
        assert_eq!(patient.len(), 1);
    }
}
