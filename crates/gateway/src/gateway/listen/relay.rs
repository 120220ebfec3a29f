//! Relay: a listener's subscription at one server, renewed whenever the server reconnects.

use super::{super::Inner, server_subscription::ServerSubscription};
use futures_util::{Stream, stream};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::time;
use trunkline_protocol::{
    Call, Fault, FaultKind, Notification, Part, Raw, Reply,
    message::{Acknowledged, ResourceParams, SubscriptionFilter},
    method,
};
use trunkline_resilience::timeout;

/// The backoff before the subscription is repeated; it doubles up to `LONGEST_PAUSE`.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// One server's part of a subscription.
pub(super) struct Relay {
    inner: Arc<Inner>,
    /// The listener's call; it is sent with the server's own names.
    call: Call,
    subscription: ServerSubscription,
    reply: Option<Reply>,
    pause: Duration,
    /// True if notifications may have been missed since the last acknowledgement.
    gap: bool,
    due: VecDeque<Notification>,
}

/// A server's answer to the subscription.
enum Answer {
    Agreed(SubscriptionFilter),
    /// The server does not support it.
    Unable,
    /// The server is not connected, or did not answer in time.
    Later,
}

impl Relay {
    /// Subscribes at the server. `None` if it does not support that. If it does not answer in
    /// time, the request counts as acknowledged and is repeated later.
    pub(super) async fn open(
        inner: Arc<Inner>,
        call: Call,
        subscription: ServerSubscription,
    ) -> Option<(Self, SubscriptionFilter)> {
        let patience = inner.shared.options.agree_within;
        let mut relay = Self {
            inner,
            call,
            subscription,
            reply: None,
            pause: FIRST_PAUSE,
            gap: false,
            due: VecDeque::new(),
        };
        relay.reply = relay.ask();
        let answer = timeout(patience, relay.answer()).await.unwrap_or(Answer::Later);
        match answer {
            Answer::Agreed(agreed) => {
                let granted = relay.subscription.granted(&agreed);
                Some((relay, granted))
            }
            Answer::Unable => None,
            Answer::Later => {
                relay.gap = true;
                let whole = relay.subscription.whole();
                Some((relay, whole))
            }
        }
    }

    pub(super) fn parts(self) -> impl Stream<Item = Part> + Send {
        stream::unfold(self, |mut relay| async move {
            let notification = relay.next().await;
            Some((Part::Notification(notification), relay))
        })
    }

    /// Subscribes if all of it is still permitted; a caller that lost a part of it gets nothing
    /// more.
    fn ask(&self) -> Option<Reply> {
        let now = self.inner.current(self.call.view.as_deref(), &self.subscription.server)?;
        let (policy, caller) = (&now.catalog.policy, &self.call.caller);
        if !self.subscription.rest.is_empty() {
            policy.permit_to(caller, &now.server, method::LISTEN)?;
        }
        let permit = policy.permit_relay(caller, &now.server, self.subscription.uris.keys())?;
        let params = self.call.params.clone().unwrap_or_else(Raw::empty_object);
        let mut call = self.call.clone();
        call.params = params.with("notifications", &self.subscription.to_filter());
        Some(permit.call(call))
    }

    /// Waits for the server's acknowledgement or error.
    async fn answer(&mut self) -> Answer {
        loop {
            let Some(reply) = &mut self.reply else { return Answer::Later };
            match reply.next().await {
                Some(Part::Notification(notification)) if notification.method == method::ACKNOWLEDGED => {
                    return Answer::Agreed(agreed(&notification));
                }
                Some(Part::Notification(notification)) => self.enqueue(notification),
                Some(Part::Final(Err(fault))) if is_inability(&fault) => return Answer::Unable,
                Some(Part::Final(_)) | None => self.reply = None,
                Some(Part::Question(_) | Part::Detach) => {}
            }
        }
    }

    async fn next(&mut self) -> Notification {
        loop {
            if let Some(due) = self.due.pop_front() {
                return due;
            }
            let Some(reply) = &mut self.reply else {
                self.pause().await;
                self.reply = self.ask();
                continue;
            };
            match reply.next().await {
                Some(Part::Notification(notification)) if notification.method == method::ACKNOWLEDGED => {
                    self.back();
                }
                Some(Part::Notification(notification)) => self.enqueue(notification),
                Some(Part::Final(_)) | None => {
                    self.reply = None;
                    self.gap = true;
                }
                Some(Part::Question(_) | Part::Detach) => {}
            }
        }
    }

    /// The server acknowledged again. It may have sent anything during the gap, so all resources
    /// are reported as updated.
    fn back(&mut self) {
        self.pause = FIRST_PAUSE;
        if std::mem::take(&mut self.gap) {
            let updated = |uri: &String| {
                Notification::new(method::RESOURCE_UPDATED, Some(ResourceParams::new(uri.as_str()).to_raw()))
            };
            self.due.extend(self.subscription.uris.values().map(updated));
        }
    }

    /// Queues a notification, translated to the listener's names; drops what was not requested.
    fn enqueue(&mut self, mut notification: Notification) {
        let changed = match notification.method.as_ref() {
            // `changes` sends the first three, `unsolicited` the others, each if requested.
            method::TOOLS_CHANGED
            | method::PROMPTS_CHANGED
            | method::RESOURCES_CHANGED
            | method::MESSAGE
            | method::ELICITATION_COMPLETE => return,
            method::RESOURCE_UPDATED => {
                let uri = notification.params.as_ref().and_then(|params| params.member("uri"));
                let Some(uri) = uri.as_ref().and_then(Raw::text) else { return };
                match self.subscription.uris.get(uri.as_ref()) {
                    Some(public) => Some(("uri", public.clone())),
                    None => self.published(&uri).map(|public| ("uri", public)),
                }
            }
            method::TASK_CHANGED | method::TASK_STATUS => {
                let id = notification.params.as_ref().and_then(|params| params.member("taskId"));
                let Some(id) = id.as_ref().and_then(Raw::text) else { return };
                let Some(public) = self.subscription.tasks.get(id.as_ref()) else { return };
                Some(("taskId", public.clone()))
            }
            _ => None,
        };
        if let (Some((member, public)), Some(params)) = (changed, &notification.params) {
            notification.params = params.with(member, &Raw::string(&public));
        }
        self.due.push_back(notification);
    }

    fn published(&self, uri: &str) -> Option<String> {
        let now = self.inner.current(self.call.view.as_deref(), &self.subscription.server)?;
        now.server.uris().publish(uri)
    }

    async fn pause(&mut self) {
        time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }
}

fn agreed(notification: &Notification) -> SubscriptionFilter {
    let read = notification.params.as_ref().and_then(|params| params.decode::<Acknowledged>().ok());
    read.map(|read| read.notifications).unwrap_or_default()
}

fn is_inability(fault: &Fault) -> bool {
    matches!(
        fault.kind(),
        FaultKind::NotAvailable
            | FaultKind::CapabilityMissing
            | FaultKind::InvalidRequest
            | FaultKind::ResourceNotFound
    )
}
