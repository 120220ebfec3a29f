//! Forwards notifications that belong to no call to the listeners that subscribed to them.
//!
//! A modern listener gets only what its filter names. A legacy client has a session, on which the
//! server may also announce that an elicitation is complete or that a task has changed. The
//! session layer requests these with [`UNSOLICITED`], and gets only the notifications from
//! sessions of the same caller.

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
    message::{SubscriptionFilter, UNSOLICITED},
    method,
};

/// Removes the request for these notifications from a filter, so that it is not sent to servers.
pub(super) fn taken(filter: &mut SubscriptionFilter) -> Option<Raw> {
    filter.rest.remove(UNSOLICITED).filter(|request| request.as_str() == "true")
}

/// Acknowledges in a filter that these notifications will be sent.
pub(super) fn accept(filter: &mut SubscriptionFilter, request: Raw) {
    filter.rest.set(UNSOLICITED, request);
}

/// Receives the notifications of one server.
pub(super) struct Unsolicited {
    inner: Arc<Inner>,
    caller: Arc<Caller>,
    view: Option<Arc<str>>,
    server: String,
    snapshots: watch::Receiver<u64>,
    subscribed: Option<(Arc<Server>, broadcast::Receiver<Event>)>,
}

impl Unsolicited {
    pub(super) fn new(inner: &Arc<Inner>, call: &Call, server: &str) -> Self {
        let mut unsolicited = Self {
            inner: Arc::clone(inner),
            caller: Arc::clone(&call.caller),
            view: call.view.clone(),
            server: server.to_owned(),
            snapshots: inner.changed.subscribe(),
            subscribed: None,
        };
        unsolicited.resubscribe();
        unsolicited
    }

    pub(super) fn parts(self) -> impl Stream<Item = Part> + Send {
        stream::unfold(self, |mut unsolicited| async move {
            let notification = unsolicited.next().await;
            notification.map(|notification| (Part::Notification(notification), unsolicited))
        })
    }

    /// `None` if the gateway was dropped.
    async fn next(&mut self) -> Option<Notification> {
        loop {
            let Some((_, events)) = &mut self.subscribed else {
                self.snapshots.changed().await.ok()?;
                self.resubscribe();
                continue;
            };
            tokio::select! {
                event = events.recv() => match event {
                    Ok(event) => {
                        if let Some(notification) = self.published(event) {
                            return Some(notification);
                        }
                    }
                    // A slow listener lost some notifications; later ones still arrive.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => self.subscribed = None,
                },
                changed = self.snapshots.changed() => {
                    changed.ok()?;
                    self.resubscribe();
                }
            }
        }
    }

    /// Subscribes to the current server, which a reload may have replaced.
    fn resubscribe(&mut self) {
        let Some(now) = self.inner.current(self.view.as_deref(), &self.server) else {
            self.subscribed = None;
            return;
        };
        let permit = now.catalog.policy.permit_contact(&self.caller, &now.view, &now.server);
        let known =
            self.subscribed.as_ref().is_some_and(|(subscribed, _)| subscribed.is_same_source(&now.server));
        if permit.is_none() || !known {
            self.subscribed = permit.map(Permit::events).map(|events| (Arc::clone(&now.server), events));
        }
    }

    fn published(&self, event: Event) -> Option<Notification> {
        if event.principal.as_deref() != Some(self.caller.id.as_str()) {
            return None;
        }
        let mut notification = event.notification;
        match notification.method.as_ref() {
            // Sent through the subscription or the call that they belong to.
            method::RESOURCE_UPDATED | method::CANCELLED | method::PROGRESS => None,
            method::TASK_STATUS | method::TASK_CHANGED => {
                let params = notification.params.as_ref()?;
                let id = params.member("taskId")?;
                let (server, _) = self.subscribed.as_ref()?;
                let public = self.inner.shared.started.public(&self.caller, server, &id.text()?)?;
                notification.params = params.with("taskId", &Raw::string(&public));
                Some(notification)
            }
            _ => Some(notification),
        }
    }
}
