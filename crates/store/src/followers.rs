//! Wakes those who wait for a log's next event.

use std::{collections::BTreeMap, sync::Arc, sync::Weak};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// One [`Notify`] per log that has followers; logs without followers cost nothing.
#[derive(Debug, Default)]
pub(crate) struct Followers(Mutex<BTreeMap<String, Weak<Notify>>>);

impl Followers {
    pub(crate) fn of(&self, log: &str) -> Arc<Notify> {
        let mut logs = self.0.lock();
        if let Some(known) = logs.get(log).and_then(Weak::upgrade) {
            return known;
        }
        logs.retain(|_, followers| followers.strong_count() > 0);
        let fresh = Arc::new(Notify::new());
        logs.insert(log.to_owned(), Arc::downgrade(&fresh));
        fresh
    }

    pub(crate) fn wake(&self, log: &str) {
        if let Some(followers) = self.0.lock().get(log).and_then(Weak::upgrade) {
            followers.notify_waiters();
        }
    }

    pub(crate) fn wake_all(&self) {
        for followers in self.0.lock().values().filter_map(Weak::upgrade) {
            followers.notify_waiters();
        }
    }
}
