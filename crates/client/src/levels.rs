//! The log level of a legacy session: the lowest level that any caller wants.

use crate::{connection::Inner, era::Ask, handshake};
use parking_lot::Mutex;
use std::time::Duration;
use trunkline_protocol::{Era, Object, Raw, message::Level, method};
use trunkline_resilience::timeout;

/// Timeout of `logging/setLevel`; after it, the call goes on without.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(crate) struct Levels(Mutex<Option<Level>>);

impl Levels {
    /// Records the level that a caller wants. Returns true if it must be sent to the server.
    fn lowers(&self, level: Level) -> bool {
        let mut set = self.0.lock();
        let lowers = is_lower(level, *set);
        if lowers {
            *set = Some(level);
        }
        lowers
    }

    fn current(&self) -> Option<Level> {
        *self.0.lock()
    }
}

fn is_lower(level: Level, set: Option<Level>) -> bool {
    set.is_none_or(|set| level < set)
}

impl Inner {
    /// True if the server must be set to this level first.
    pub(crate) fn must_set_level(&self, level: Level) -> bool {
        self.accepts_levels() && is_lower(level, self.levels.current())
    }

    fn accepts_levels(&self) -> bool {
        self.speech.era() == Era::Legacy && self.server.has_capability("logging")
    }

    /// Makes sure that the server sends messages of this level.
    pub(crate) async fn want_level(&self, level: Level) {
        if self.accepts_levels() && self.levels.lowers(level) {
            self.send_level(level).await;
        }
    }

    /// Sets the level in a new session.
    pub(crate) async fn replay_level(&self) {
        if let Some(level) = self.levels.current() {
            self.send_level(level).await;
        }
    }

    async fn send_level(&self, level: Level) {
        let mut params = Object::new();
        params.set("level", Raw::string(level.as_str()));
        let mut exchange = self.exchange(&Ask::new(method::SET_LEVEL, params));
        match timeout(TIMEOUT, handshake::answer(&mut exchange)).await {
            Some(Ok(Ok(_))) => {}
            other => tracing::debug!(?other, "the server did not take the log level"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_level_counts() {
        let levels = Levels::default();
        assert!(levels.lowers(Level::Error));
        assert!(levels.lowers(Level::Info));
        assert!(!levels.lowers(Level::Info));
        assert!(!levels.lowers(Level::Warning));
        assert!(levels.lowers(Level::Debug));
        assert_eq!(levels.current(), Some(Level::Debug));
    }
}
