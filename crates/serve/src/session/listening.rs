//! The subscriptions of a legacy session, as one `subscriptions/listen` call to the handler.

use super::Session;
use crate::service::Service;
use parking_lot::Mutex;
use std::{
    collections::BTreeSet,
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::{
    sync::{Notify, oneshot},
    task::AbortHandle,
};
use trunkline_protocol::{
    Call, Fault, FaultKind, Notification, Object, Part, Raw, Reply,
    message::{Acknowledged, UNSOLICITED, meta},
    method,
};
use trunkline_resilience::Deadline;

/// Most resources that one session may subscribe to.
const MAX_URIS: usize = 1000;
/// Limit on the handler's acknowledgement of a subscription.
const ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(crate) struct Listening {
    state: Mutex<State>,
    /// Wakes a subscription that the handler has ended.
    touched: Arc<Notify>,
}

#[derive(Default)]
struct State {
    uris: BTreeSet<String>,
    task: Option<AbortHandle>,
}

/// The session has the maximum number of subscriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMany;

impl Listening {
    pub(crate) fn add(&self, uri: String) -> Result<(), TooMany> {
        let mut state = self.state.lock();
        if state.uris.len() >= MAX_URIS && !state.uris.contains(&uri) {
            return Err(TooMany);
        }
        state.uris.insert(uri);
        Ok(())
    }

    pub(crate) fn remove(&self, uri: &str) {
        self.state.lock().uris.remove(uri);
    }

    /// The client has sent something.
    pub(super) fn touch(&self) {
        self.touched.notify_waiters();
    }

    pub(crate) fn stop(&self) {
        if let Some(task) = self.state.lock().task.take() {
            task.abort();
        }
    }
}

/// The handler's decision: the subscribed resources, or the reason for a refusal.
type Verdict = Result<Vec<String>, Fault>;

/// One call that listens.
struct ListenCall {
    reply: Reply,
    service: Weak<Service>,
    session: Weak<Session>,
    /// Present until the handler acknowledges or refuses.
    pending: Option<PendingDecision>,
}

struct PendingDecision {
    tell: oneshot::Sender<Verdict>,
    /// Keeps the previous call running until the new one is acknowledged, so no event is missed.
    _previous: PreviousCall,
}

/// The previous listening call; dropping this aborts it.
struct PreviousCall(Option<AbortHandle>);

/// Subscribes to one more resource, and replies with the handler's decision.
pub(crate) fn subscribe(service: &Arc<Service>, session: &Arc<Session>, params: Option<&Raw>) -> Reply {
    let Some(uri) = params.and_then(|params| params.member_as::<String>("uri")) else {
        return Reply::ready(Err(Fault::new(FaultKind::InvalidRequest, "`uri` is missing")));
    };
    if session.listening.add(uri.clone()).is_err() {
        let fault = Fault::new(
            FaultKind::Overloaded,
            "this session has too many subscriptions; unsubscribe from some",
        );
        return Reply::ready(Err(fault));
    }
    let (service, session) = (service.clone(), session.clone());
    Reply::from_future(async move {
        let fault = match listen(&service, &session).await {
            Ok(Ok(watched)) if watched.contains(&uri) => return Ok(Raw::empty_object()),
            Ok(Ok(_)) => {
                session.listening.remove(&uri);
                return Err(unwatchable(&uri));
            }
            Ok(Err(fault)) => fault,
            // Aborted without a decision: a later subscription replaced this call and includes it.
            Err(_) => return Ok(Raw::empty_object()),
        };
        session.listening.remove(&uri);
        drop(listen(&service, &session));
        Err(fault)
    })
}

fn unwatchable(uri: &str) -> Fault {
    let data = serde_json::json!({"uri": uri});
    Fault::new(FaultKind::ResourceNotFound, format!("`{uri}` cannot be subscribed to")).with_data(data.into())
}

/// Replaces the listening call by one with the session's current subscriptions. The previous call
/// is aborted only after the decision on the new one, so no event is missed.
pub(crate) fn listen(service: &Arc<Service>, session: &Arc<Session>) -> oneshot::Receiver<Verdict> {
    let uris: Vec<String> = session.listening.state.lock().uris.iter().cloned().collect();
    let filter = serde_json::json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": uris,
        UNSOLICITED: true,
    });
    let mut params = Object::new();
    params.set("notifications", filter.into());
    params.set("_meta", crate::era::lifted_meta(session, None).to_raw());
    let mut call = Call::new(method::LISTEN, Some(params.to_raw()));
    call.caller = session.caller.clone();
    call.revision = session.revision;
    let reply = service.handler.call(call);
    let (tell, verdict) = oneshot::channel();
    let mut state = session.listening.state.lock();
    let pending = Some(PendingDecision { tell, _previous: PreviousCall(state.task.take()) });
    let (service, session) = (Arc::downgrade(service), Arc::downgrade(session));
    let listening = ListenCall { reply, service, session, pending };
    state.task = Some(tokio::spawn(listening.run()).abort_handle());
    verdict
}

impl ListenCall {
    async fn run(mut self) {
        let mut late = std::pin::pin!(Deadline::after(ACKNOWLEDGE_TIMEOUT));
        loop {
            let part = tokio::select! {
                part = self.reply.next() => part,
                () = &mut late, if self.pending.is_some() => {
                    let fault = "the server did not acknowledge the subscription in time";
                    self.report(Err(Fault::new(FaultKind::Timeout, fault)));
                    continue;
                }
            };
            match part {
                Some(Part::Notification(notification)) if notification.method == method::ACKNOWLEDGED => {
                    self.report(Ok(watched(notification.params.as_ref())));
                }
                Some(Part::Notification(mut notification)) => {
                    let Some(session) = self.session.upgrade() else { return };
                    notification.params = without_tag(notification.params.as_ref());
                    session.tell(&notification.into());
                }
                Some(Part::Final(outcome)) if self.pending.is_none() => {
                    return self.again(outcome.is_err()).await;
                }
                Some(Part::Final(Err(fault))) => return self.report(Err(fault)),
                Some(Part::Final(Ok(_))) | None => return,
                Some(Part::Question(_) | Part::Detach) => {}
            }
        }
    }

    /// Listens again after the handler has ended an acknowledged subscription: at once, or, if it
    /// needed the place for others, when the client sends something.
    async fn again(self, needed_place: bool) {
        let Self { reply, service, session, .. } = self;
        drop(reply);
        if needed_place {
            let Some(touched) = session.upgrade().map(|session| session.listening.touched.clone()) else {
                return;
            };
            touched.notified().await;
        }
        let (Some(service), Some(strong)) = (service.upgrade(), session.upgrade()) else { return };
        let verdict = listen(&service, &strong);
        // A task of its own: the acknowledgement aborts this one.
        tokio::spawn(async move {
            if matches!(verdict.await, Ok(Ok(_)))
                && let Some(session) = session.upgrade()
            {
                // Changes in between are not known.
                for changed in [method::TOOLS_CHANGED, method::PROMPTS_CHANGED, method::RESOURCES_CHANGED] {
                    session.tell(&Notification::new(changed, None).into());
                }
            }
        });
    }

    /// Reports the decision once, and aborts the previous call.
    fn report(&mut self, verdict: Verdict) {
        if let Some(pending) = self.pending.take() {
            // The receiver may have been dropped.
            pending.tell.send(verdict).ok();
        }
    }
}

impl Drop for PreviousCall {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            task.abort();
        }
    }
}

/// The resources named in an acknowledgement.
fn watched(params: Option<&Raw>) -> Vec<String> {
    let acknowledged = params.and_then(|params| params.decode::<Acknowledged>().ok());
    acknowledged.and_then(|params| params.notifications.resource_subscriptions).unwrap_or_default()
}

/// Removes the subscription id, which legacy revisions do not have.
fn without_tag(params: Option<&Raw>) -> Option<Raw> {
    let params = params?;
    let bare = meta::remove(Some(params), [meta::SUBSCRIPTION_ID]).unwrap_or_else(|_| params.clone());
    bare.object().is_some_and(|members| !members.is_empty()).then_some(bare)
}
