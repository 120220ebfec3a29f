//! What a legacy client subscribed to, as one listening call to the handler.

use super::{Session, lock};
use crate::service::Service;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{sync::oneshot, task::AbortHandle, time::timeout};
use trunkline_protocol::{
    Call, Fault, FaultKind, Object, Outcome, Part, Raw, Reply,
    message::{ASIDES, Acknowledged, meta},
    method,
};

/// Resources one session may watch.
const MOST_URIS: usize = 1000;
/// How long the handler may take to agree to watch one.
const AGREE: Duration = Duration::from_secs(30);

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

/// What came of listening: the resources that are watched from now on, or why nothing is.
type Verdict = oneshot::Receiver<Result<Vec<String>, Fault>>;

/// A call that listened before; it ends with this.
struct Former(Option<AbortHandle>);

impl Drop for Former {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            task.abort();
        }
    }
}

/// Watches one more resource. The client is told what the handler says of it.
pub(crate) fn subscribe(service: &Arc<Service>, session: &Arc<Session>, params: Option<&Raw>) -> Reply {
    let Some(uri) = params.and_then(|params| params.member_as::<String>("uri")) else {
        return Reply::ready(Err(Fault::new(FaultKind::InvalidRequest, "`uri` is missing")));
    };
    if session.listening.add(uri.clone()).is_err() {
        let fault = Fault::new(FaultKind::Overloaded, "this session watches too many resources");
        return Reply::ready(Err(fault));
    }
    let (service, session) = (service.clone(), session.clone());
    Reply::from_future(async move { agree(&service, &session, uri).await })
}

async fn agree(service: &Arc<Service>, session: &Arc<Session>, uri: String) -> Outcome {
    let fault = match timeout(AGREE, listen(service, session)).await {
        Ok(Ok(Ok(watched))) if watched.contains(&uri) => return Ok(Raw::empty_object()),
        Ok(Ok(Ok(_))) => {
            session.listening.remove(&uri);
            let data = serde_json::json!({"uri": uri});
            let fault = format!("`{uri}` cannot be subscribed to");
            return Err(Fault::new(FaultKind::ResourceNotFound, fault).with_data(data.into()));
        }
        Ok(Ok(Err(fault))) => fault,
        // Dropped without a word: somebody subscribed to something else meanwhile, and that call covers this one, too.
        Ok(Err(_)) => return Ok(Raw::empty_object()),
        Err(_) => Fault::new(FaultKind::Timeout, "the server did not agree to the subscription in time"),
    };
    session.listening.remove(&uri);
    drop(listen(service, session));
    Err(fault)
}

/// Listens anew for what the session wants now. The old call ends when the new one was agreed to, so nothing is missed.
pub(crate) fn listen(service: &Arc<Service>, session: &Arc<Session>) -> Verdict {
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
    call.revision = session.revision;
    let mut reply = service.handler.call(call);
    let weak = Arc::downgrade(session);
    let (tell, verdict) = oneshot::channel();
    let mut state = lock(&session.listening.0);
    let mut beginning = Some((tell, Former(state.task.take())));
    let task = tokio::spawn(async move {
        while let Some(part) = reply.next().await {
            let mut notification = match part {
                Part::Notification(notification) => notification,
                Part::Final(Err(fault)) => {
                    if let Some((tell, _)) = beginning.take() {
                        // Nobody may be waiting.
                        tell.send(Err(fault)).ok();
                    }
                    continue;
                }
                Part::Final(Ok(_)) | Part::Question(_) | Part::Detach => continue,
            };
            if notification.method == method::ACKNOWLEDGED {
                if let Some((tell, _)) = beginning.take() {
                    tell.send(Ok(watched(notification.params.as_ref()))).ok();
                }
                continue;
            }
            let Some(session) = weak.upgrade() else { return };
            notification.params = without_tag(notification.params.as_ref());
            session.tell(notification.into());
        }
    });
    state.task = Some(task.abort_handle());
    verdict
}

/// The resources that an acknowledgement names.
fn watched(params: Option<&Raw>) -> Vec<String> {
    let told = params.and_then(|params| params.decode::<Acknowledged>().ok());
    told.and_then(|told| told.notifications.resource_subscriptions).unwrap_or_default()
}

/// A legacy client knows nothing of subscription ids.
fn without_tag(params: Option<&Raw>) -> Option<Raw> {
    let params = params?;
    let bare = meta::remove(Some(params), [meta::SUBSCRIPTION_ID]).unwrap_or_else(|_| params.clone());
    bare.object().is_some_and(|members| !members.is_empty()).then_some(bare)
}
