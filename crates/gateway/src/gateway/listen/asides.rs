//! Asides: what a server tells a caller outside of any call, for listeners that keep a session with us and ask for it.
//!
//! A modern listener hears nothing outside its filter. A legacy client has a session, on which its server may say that an
//! elicitation is over or how a task stands; whoever keeps that session asks for it by [`ASIDES`], and hears only what was said
//! in the server's sessions with this very caller.

use super::super::Inner;
use crate::{catalog::Server, policy::Permit, upstream::Event};
use futures_util::{Stream, stream};
use std::sync::Arc;
use tokio::sync::{
    broadcast::{self, error::RecvError},
    watch,
};
use trunkline_protocol::{
    Call, Caller, Notification, Part, Raw,
    message::{ASIDES, SubscriptionFilter},
    method,
};

/// Takes the wish out of a filter, so that servers do not hear of it.
pub(super) fn taken(filter: &mut SubscriptionFilter) -> Option<Raw> {
    filter.rest.remove(ASIDES).filter(|wish| wish.as_str() == "true")
}

/// Says in a filter that asides are told.
pub(super) fn accept(filter: &mut SubscriptionFilter, wish: Raw) {
    filter.rest.set(ASIDES, wish);
}

/// Listens to one server.
pub(super) struct Asides {
    inner: Arc<Inner>,
    caller: Arc<Caller>,
    view: Option<Arc<str>>,
    server: String,
    snapshots: watch::Receiver<u64>,
    heard: Option<(Arc<Server>, broadcast::Receiver<Event>)>,
}

impl Asides {
    pub(super) fn new(inner: &Arc<Inner>, call: &Call, server: &str) -> Self {
        let mut asides = Self {
            inner: Arc::clone(inner),
            caller: Arc::clone(&call.caller),
            view: call.view.clone(),
            server: server.to_owned(),
            snapshots: inner.changed.subscribe(),
            heard: None,
        };
        asides.tune();
        asides
    }

    pub(super) fn parts(self) -> impl Stream<Item = Part> + Send {
        stream::unfold(self, |mut asides| async move {
            let notification = asides.next().await;
            notification.map(|notification| (Part::Notification(notification), asides))
        })
    }

    /// `None` when the gateway is gone.
    async fn next(&mut self) -> Option<Notification> {
        loop {
            let Some((_, events)) = &mut self.heard else {
                self.snapshots.changed().await.ok()?;
                self.tune();
                continue;
            };
            tokio::select! {
                event = events.recv() => match event {
                    Ok(event) => {
                        if let Some(told) = self.published(event) {
                            return Some(told);
                        }
                    }
                    // What a slow listener missed is gone; what follows is not.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => self.heard = None,
                },
                changed = self.snapshots.changed() => {
                    changed.ok()?;
                    self.tune();
                }
            }
        }
    }

    /// Listens to the server as it is now, which a reload may have replaced.
    fn tune(&mut self) {
        let Some(now) = self.inner.current(self.view.as_deref(), &self.server) else {
            self.heard = None;
            return;
        };
        let permit = now.catalog.policy.permit_acquaintance(&self.caller, &now.view, &now.server);
        let known = self.heard.as_ref().is_some_and(|(heard, _)| heard.is_same_source(&now.server));
        if permit.is_none() || !known {
            self.heard = permit.map(Permit::events).map(|events| (Arc::clone(&now.server), events));
        }
    }

    fn published(&self, event: Event) -> Option<Notification> {
        if event.principal.as_deref() != Some(self.caller.id.as_str()) {
            return None;
        }
        let mut told = event.notification;
        match told.method.as_ref() {
            // Told by whoever subscribed to it.
            method::RESOURCE_UPDATED | method::CANCELLED | method::PROGRESS => None,
            method::TASK_STATUS | method::TASK_CHANGED => {
                let params = told.params.as_ref()?;
                let id = params.member("taskId")?;
                let (server, _) = self.heard.as_ref()?;
                let public = self.inner.started.public(&self.caller, server, &id.text()?)?;
                told.params = params.with("taskId", &Raw::string(&public));
                Some(told)
            }
            _ => Some(told),
        }
    }
}
