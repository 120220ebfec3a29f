//! Wakes those who wait for a log's next event.

use std::{
    collections::BTreeMap,
    pin::pin,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{Store, StoreError};

/// One [`Notify`] per log that has followers; logs without followers cost nothing.
#[derive(Debug, Default)]
pub(crate) struct Followers(Mutex<BTreeMap<String, Weak<Notify>>>);

impl Followers {
    fn of(&self, log: &str) -> Arc<Notify> {
        let mut logs = self.0.lock();
        if let Some(known) = logs.get(log).and_then(Weak::upgrade) {
            return known;
        }
        logs.retain(|_, followers| followers.strong_count() > 0);
        let fresh = Arc::new(Notify::new());
        logs.insert(log.to_owned(), Arc::downgrade(&fresh));
        fresh
    }

    /// Resolves when the log in `store` has an event after `after`.
    pub(crate) async fn wait(&self, store: &dyn Store, log: &str, after: u64) -> Result<(), StoreError> {
        let followers = self.of(log);
        loop {
            // Registered before the look, so that an event between the two is not missed.
            let mut woken = pin!(followers.notified());
            woken.as_mut().enable();
            if !store.events(log, after, 1).await?.is_empty() {
                return Ok(());
            }
            woken.await;
        }
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
