//! The log level of a legacy session: as low as the caller who wants to hear most.

use crate::{connection::Inner, era::Ask, handshake};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};
use trunkline_protocol::{Era, Object, Raw, message::Level, method};
use trunkline_resilience::timeout;

/// What a legacy client that set no level is taken to want; a server's own idea of it is as good.
const DEFAULT: Level = Level::Info;
/// How long a server may take to set it; the call goes on without.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(crate) struct Levels(Mutex<Option<Level>>);

impl Levels {
    /// Notes that a caller of this era wants to hear of this level; tells whether the server must be told.
    fn lowers(&self, level: Level, caller: Era) -> bool {
        let mut set = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lowers = is_lower(level, caller, *set);
        if lowers {
            *set = Some(level);
        }
        lowers
    }

    fn current(&self) -> Option<Level> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_lower(level: Level, caller: Era, set: Option<Level>) -> bool {
    match set {
        None => caller == Era::Modern || level != DEFAULT,
        Some(current) => level < current,
    }
}

impl Inner {
    /// Whether the server would have to be told of a caller's wish.
    pub(crate) fn must_tell(&self, level: Level, caller: Era) -> bool {
        self.takes_levels() && is_lower(level, caller, self.levels.current())
    }

    fn takes_levels(&self) -> bool {
        self.speech.era() == Era::Legacy && self.server.has_capability("logging")
    }

    /// Makes sure that the server sends messages of this level.
    pub(crate) async fn want_level(&self, level: Level, caller: Era) {
        if self.takes_levels() && self.levels.lowers(level, caller) {
            self.send_level(level).await;
        }
    }

    /// A new session knows nothing of the level.
    pub(crate) async fn replay_level(&self) {
        if let Some(level) = self.levels.current() {
            self.send_level(level).await;
        }
    }

    async fn send_level(&self, level: Level) {
        let mut params = Object::new();
        params.set("level", Raw::string(level.as_str()));
        let mut exchange = self.exchange(&Ask::new(method::SET_LEVEL, params));
        match timeout(PATIENCE, handshake::answer(&mut exchange)).await {
            Some(Ok(Ok(_))) => {}
            other => tracing::debug!(?other, "the server did not take the log level"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_wish_counts_and_a_default_is_no_wish() {
        let levels = Levels::default();
        assert!(!levels.lowers(Level::Info, Era::Legacy));
        assert!(levels.lowers(Level::Error, Era::Legacy));
        assert!(levels.lowers(Level::Info, Era::Legacy));
        assert!(!levels.lowers(Level::Warning, Era::Modern));
        assert!(levels.lowers(Level::Debug, Era::Modern));
        assert_eq!(levels.current(), Some(Level::Debug));
    }
}
