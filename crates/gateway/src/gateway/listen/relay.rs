//! Relay: what one server tells a listener, kept up while the server comes and goes.

use super::{super::Inner, wishes::Wishes};
use futures_util::{Stream, stream};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::time;
use trunkline_protocol::{
    Call, Fault, FaultKind, Notification, Part, Raw, Reply,
    message::{Acknowledged, ResourceParams, SubscriptionFilter},
    method,
};
use trunkline_resilience::timeout;

/// The pause before a server is asked again; it doubles up to the second.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// One server's part of a subscription.
pub(super) struct Relay {
    inner: Arc<Inner>,
    /// The listener's call; asked again with the server's words in it.
    call: Call,
    wishes: Wishes,
    reply: Option<Reply>,
    pause: Duration,
    /// Whether something may have been missed since the server last agreed.
    gap: bool,
    due: VecDeque<Notification>,
}

/// How a server answered.
enum Answer {
    Agreed(SubscriptionFilter),
    /// It does not do this at all.
    Unable,
    /// It is away, or slow.
    Later,
}

impl Relay {
    /// Asks the server. `None` when it cannot tell any of it; one that does not answer in time is asked again later, and is
    /// taken to agree.
    pub(super) async fn open(
        inner: Arc<Inner>,
        call: Call,
        wishes: Wishes,
    ) -> Option<(Self, SubscriptionFilter)> {
        let patience = inner.options.agree_within;
        let mut relay =
            Self { inner, call, wishes, reply: None, pause: FIRST_PAUSE, gap: false, due: VecDeque::new() };
        relay.reply = relay.ask();
        let answer = timeout(patience, relay.answer()).await.unwrap_or(Answer::Later);
        match answer {
            Answer::Agreed(agreed) => {
                let granted = relay.wishes.granted(&agreed);
                Some((relay, granted))
            }
            Answer::Unable => None,
            Answer::Later => {
                relay.gap = true;
                let whole = relay.wishes.whole();
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

    /// Asks for what is still permitted as a whole; a caller who lost a part of it hears nothing more.
    fn ask(&self) -> Option<Reply> {
        let now = self.inner.current(self.call.view.as_deref(), &self.wishes.server)?;
        let (policy, caller) = (&now.catalog.policy, &self.call.caller);
        if !self.wishes.rest.is_empty() {
            policy.permit_to(caller, &now.server, method::LISTEN)?;
        }
        let permit = policy.permit_relay(caller, &now.server, self.wishes.uris.keys())?;
        let params = self.call.params.clone().unwrap_or_else(Raw::empty_object);
        let mut call = self.call.clone();
        call.params = params.with("notifications", &self.wishes.to_filter());
        Some(permit.call(call))
    }

    /// The server's first word.
    async fn answer(&mut self) -> Answer {
        loop {
            let Some(reply) = &mut self.reply else { return Answer::Later };
            match reply.next().await {
                Some(Part::Notification(told)) if told.method == method::ACKNOWLEDGED => {
                    return Answer::Agreed(agreed(&told));
                }
                Some(Part::Notification(told)) => self.hear(told),
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
                Some(Part::Notification(told)) if told.method == method::ACKNOWLEDGED => self.back(),
                Some(Part::Notification(told)) => self.hear(told),
                Some(Part::Final(_)) | None => {
                    self.reply = None;
                    self.gap = true;
                }
                Some(Part::Question(_) | Part::Detach) => {}
            }
        }
    }

    /// The server agreed again. What it would have told meanwhile is not known, so everything may have changed.
    fn back(&mut self) {
        self.pause = FIRST_PAUSE;
        if std::mem::take(&mut self.gap) {
            let updated = |uri: &String| {
                Notification::new(method::RESOURCE_UPDATED, Some(ResourceParams::new(uri.as_str()).to_raw()))
            };
            self.due.extend(self.wishes.uris.values().map(updated));
        }
    }

    /// Takes what the server tells, in the listener's words; what was not asked for is dropped.
    fn hear(&mut self, mut told: Notification) {
        let changed = match told.method.as_ref() {
            // The first three are told by `changes`, the others by `asides`, to whoever wants them.
            method::TOOLS_CHANGED
            | method::PROMPTS_CHANGED
            | method::RESOURCES_CHANGED
            | method::MESSAGE
            | method::ELICITATION_COMPLETE => return,
            method::RESOURCE_UPDATED => {
                let uri = told.params.as_ref().and_then(|params| params.member("uri"));
                let Some(uri) = uri.as_ref().and_then(Raw::text) else { return };
                match self.wishes.uris.get(uri.as_ref()) {
                    Some(public) => Some(("uri", public.clone())),
                    None => self.published(&uri).map(|public| ("uri", public)),
                }
            }
            method::TASK_CHANGED | method::TASK_STATUS => {
                let id = told.params.as_ref().and_then(|params| params.member("taskId"));
                let Some(id) = id.as_ref().and_then(Raw::text) else { return };
                let Some(public) = self.wishes.tasks.get(id.as_ref()) else { return };
                Some(("taskId", public.clone()))
            }
            _ => None,
        };
        if let (Some((member, public)), Some(params)) = (changed, &told.params) {
            told.params = params.with(member, &Raw::string(&public));
        }
        self.due.push_back(told);
    }

    fn published(&self, uri: &str) -> Option<String> {
        let now = self.inner.current(self.call.view.as_deref(), &self.wishes.server)?;
        now.server.uris().publish(uri)
    }

    async fn pause(&mut self) {
        time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }
}

fn agreed(told: &Notification) -> SubscriptionFilter {
    let read = told.params.as_ref().and_then(|params| params.decode::<Acknowledged>().ok());
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
