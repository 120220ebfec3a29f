//! Listeners: the open subscriptions. Each receives only changes that match its filter; one that
//! reads too slowly is dropped.

use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use tokio::sync::mpsc;
use trunkline_protocol::{
    Caller, Fault, FaultKind, Notification, Raw,
    message::{ResourceParams, SubscriptionFilter},
    method,
};

/// Maximum number of subscriptions of one caller; below: of all callers.
const MAX_PER_CALLER: usize = 32;
const MAX_LISTENERS: usize = 1024;
/// Maximum number of unread changes of one subscription.
const MAX_WAITING: usize = 64;

/// A change to report.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Tools,
    Prompts,
    Resources,
    Resource(String),
    /// A task, with its whole state.
    Task {
        id: String,
        owner: String,
        state: Raw,
    },
}

#[derive(Debug, Default)]
pub(super) struct Listeners(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    all: Vec<Listener>,
}

#[derive(Debug)]
struct Listener {
    number: u64,
    caller: Arc<Caller>,
    filter: SubscriptionFilter,
    changes: mpsc::Sender<Notification>,
}

/// One subscription; dropping it ends it.
#[derive(Debug)]
pub(super) struct Subscription<'a> {
    listeners: &'a Listeners,
    number: u64,
    changes: mpsc::Receiver<Notification>,
}

impl Listeners {
    pub(super) fn add(
        &self,
        caller: &Arc<Caller>,
        filter: SubscriptionFilter,
    ) -> Result<Subscription<'_>, Fault> {
        let mut state = self.state();
        let own = state.all.iter().filter(|l| l.caller.id == caller.id).count();
        if own >= MAX_PER_CALLER || state.all.len() >= MAX_LISTENERS {
            return Err(Fault::new(FaultKind::Overloaded, "too many subscriptions are open; end one first"));
        }
        let (sender, changes) = mpsc::channel(MAX_WAITING);
        let number = state.next;
        state.next += 1;
        state.all.push(Listener { number, caller: Arc::clone(caller), filter, changes: sender });
        Ok(Subscription { listeners: self, number, changes })
    }

    /// Sends the change to every listener whose filter matches.
    pub(super) fn tell(&self, change: &Change) {
        self.state().all.retain(|listener| {
            if !change.concerns(listener) {
                return true;
            }
            let told = listener.changes.try_send(change.to_notification());
            if told.is_err() {
                tracing::info!(caller = listener.caller.id, "dropped a subscription that reads too slowly");
            }
            told.is_ok()
        });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl Subscription<'_> {
    /// The next change; `None` after this listener was dropped for reading too slowly.
    pub(super) async fn next(&mut self) -> Option<Notification> {
        self.changes.recv().await
    }
}

impl Drop for Subscription<'_> {
    fn drop(&mut self) {
        self.listeners.state().all.retain(|listener| listener.number != self.number);
    }
}

impl Change {
    fn concerns(&self, listener: &Listener) -> bool {
        let filter = &listener.filter;
        match self {
            Self::Tools => filter.tools_list_changed == Some(true),
            Self::Prompts => filter.prompts_list_changed == Some(true),
            Self::Resources => filter.resources_list_changed == Some(true),
            Self::Resource(uri) => {
                filter.resource_subscriptions.as_ref().is_some_and(|uris| uris.contains(uri))
            }
            Self::Task { id, owner, .. } => {
                listener.caller.id == *owner && filter.task_ids.as_ref().is_some_and(|ids| ids.contains(id))
            }
        }
    }

    fn to_notification(&self) -> Notification {
        match self {
            Self::Tools => Notification::new(method::TOOLS_CHANGED, None),
            Self::Prompts => Notification::new(method::PROMPTS_CHANGED, None),
            Self::Resources => Notification::new(method::RESOURCES_CHANGED, None),
            Self::Resource(uri) => {
                let params = ResourceParams::new(uri.as_str()).to_raw();
                Notification::new(method::RESOURCE_UPDATED, Some(params))
            }
            Self::Task { state, .. } => Notification::new(method::TASK_CHANGED, Some(state.clone())),
        }
    }
}
