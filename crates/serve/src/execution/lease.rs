//! The lease of this process: a value in a shared store that says that the process is alive.
//!
//! Other processes take executions of a process without a lease as abandoned. A store of one
//! process needs none: every other process that wrote to it has ended.

use parking_lot::Mutex;
use std::{
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::time::Instant;
use tracing::warn;
use trunkline_store::{Condition, Store, StoreError};

/// Time after which a process that did not renew its lease is taken as dead.
const LIFETIME: Duration = Duration::from_secs(10);
const RENEWAL: Duration = Duration::from_secs(3);

pub(super) struct Lease {
    store: Arc<dyn Store>,
    pub(super) instance: String,
    state: Mutex<LeaseState>,
}

#[derive(Default)]
struct LeaseState {
    renewed: Option<Instant>,
    /// Exists while executions of this process run.
    held: Weak<Held>,
}

/// Keeps the lease renewed.
pub(super) struct Held;

impl Lease {
    pub(super) fn new(store: Arc<dyn Store>, instance: String) -> Arc<Self> {
        Arc::new(Self { store, instance, state: Mutex::default() })
    }

    /// Takes the lease before an execution is recorded, and renews it until the returned value is
    /// dropped by all executions.
    pub(super) async fn hold(self: &Arc<Self>) -> Result<Option<Arc<Held>>, StoreError> {
        if !self.store.is_shared() {
            return Ok(None);
        }
        let is_fresh = self.state.lock().renewed.is_some_and(|renewed| renewed.elapsed() < RENEWAL);
        if !is_fresh {
            self.renew().await?;
        }
        let mut state = self.state.lock();
        if let Some(held) = state.held.upgrade() {
            return Ok(Some(held));
        }
        let held = Arc::new(Held);
        state.held = Arc::downgrade(&held);
        drop(state);
        tokio::spawn(self.clone().keep(Arc::downgrade(&held)));
        Ok(Some(held))
    }

    /// True if the process that runs an execution may still be alive.
    pub(super) async fn is_alive(&self, instance: &str) -> Result<bool, StoreError> {
        if instance == self.instance {
            return Ok(true);
        }
        Ok(self.store.is_shared() && self.store.get(&key(instance)).await?.is_some())
    }

    async fn keep(self: Arc<Self>, held: Weak<Held>) {
        loop {
            tokio::time::sleep(RENEWAL).await;
            if held.strong_count() == 0 {
                return;
            }
            if let Err(error) = self.renew().await {
                warn!(%error, "the lease of this process could not be renewed");
            }
        }
    }

    async fn renew(&self) -> Result<(), StoreError> {
        let now = Instant::now();
        let key = key(&self.instance);
        self.store.put(&key, bytes::Bytes::from_static(b"1"), Condition::Always, Some(LIFETIME)).await?;
        self.state.lock().renewed = Some(now);
        Ok(())
    }
}

fn key(instance: &str) -> String {
    format!("instance/{instance}")
}
