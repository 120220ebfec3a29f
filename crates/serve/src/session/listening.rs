//! What a legacy client subscribed to, as one listening call to the handler.

use super::{Session, lock};
use crate::service::Service;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};
use tokio::task::AbortHandle;
use trunkline_protocol::{
    Call, Object, Part, Raw,
    message::{ASIDES, meta},
    method,
};

/// Resources one session may watch.
const MOST_URIS: usize = 1000;

#[derive(Default)]
pub(crate) struct Listening(Mutex<State>);

#[derive(Default)]
struct State {
    uris: BTreeSet<String>,
    task: Option<AbortHandle>,
}

/// A session cannot watch any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMany;

impl Listening {
    pub(crate) fn add(&self, uri: String) -> Result<(), TooMany> {
        let mut state = lock(&self.0);
        if state.uris.len() >= MOST_URIS && !state.uris.contains(&uri) {
            return Err(TooMany);
        }
        state.uris.insert(uri);
        Ok(())
    }

    pub(crate) fn remove(&self, uri: &str) {
        lock(&self.0).uris.remove(uri);
    }

    pub(crate) fn stop(&self) {
        if let Some(task) = lock(&self.0).task.take() {
            task.abort();
        }
    }
}

/// Listens anew for what the session wants now. The old call ends after the new one has begun, so nothing is missed.
pub(crate) fn listen(service: &Arc<Service>, session: &Arc<Session>) {
    let uris: Vec<String> = lock(&session.listening.0).uris.iter().cloned().collect();
    let filter = serde_json::json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": uris,
        ASIDES: true,
    });
    let mut params = Object::new();
    params.set("notifications", filter.into());
    params.set("_meta", crate::era::lifted_meta(session, None).to_raw());
    let mut call = Call::new(method::LISTEN, Some(params.to_raw()));
    call.caller = session.caller.clone();
    let mut reply = service.handler.call(call);
    let weak = Arc::downgrade(session);
    let task = tokio::spawn(async move {
        while let Some(part) = reply.next().await {
            let Part::Notification(mut notification) = part else { continue };
            let Some(session) = weak.upgrade() else { return };
            if notification.method == method::ACKNOWLEDGED {
                continue;
            }
            notification.params = without_tag(notification.params.as_ref());
            session.tell(notification.into());
        }
    });
    let old = lock(&session.listening.0).task.replace(task.abort_handle());
    if let Some(old) = old {
        old.abort();
    }
}

/// A legacy client knows nothing of subscription ids.
fn without_tag(params: Option<&Raw>) -> Option<Raw> {
    let params = params?;
    let bare = meta::remove(Some(params), [meta::SUBSCRIPTION_ID]).unwrap_or_else(|_| params.clone());
    bare.object().is_some_and(|members| !members.is_empty()).then_some(bare)
}
