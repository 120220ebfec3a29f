//! [`Session`]: the state of one legacy client.

mod calls;
mod listening;
mod registry;
mod stream;

use crate::{
    era::{Lowered, lower_question},
    outgoing::Outgoing,
};
use futures_util::task::AtomicWaker;
use listening::Listening;
use parking_lot::Mutex;
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
};
use trunkline_protocol::{
    Caller, Envelope, Fault, FaultKind, Object, Question, Raw, Request, RequestId, Response, Revision,
    message::Level,
};
use trunkline_resilience::Moment;

pub(crate) use calls::Calls;
pub(crate) use listening::{listen, subscribe};
pub(crate) use registry::Sessions;
pub(crate) use stream::{EventId, Reader, StreamLog, Streams};

pub(crate) struct Session {
    pub(crate) id: String,
    /// Identifies the session in calls; `None` if it ends with its only request.
    pub(crate) key: Option<Arc<str>>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) revision: Revision,
    /// `capabilities` and `clientInfo` of `initialize`.
    pub(crate) client: Introduction,
    pub(crate) outlet: Outlet,
    pub(crate) listening: Listening,
    level: Mutex<Option<Level>>,
    /// Cache of the `_meta` for lifted requests; cleared when the log level changes.
    meta: Mutex<Option<SessionMeta>>,
    questions: Mutex<HashMap<RequestId, Question>>,
    next_question: AtomicU64,
    calls: Mutex<Calls<Arc<Cancelled>>>,
    touched: Mutex<Moment>,
}

/// The `_meta` that lifting adds to every request of a session.
#[derive(Clone)]
pub(crate) struct SessionMeta {
    pub(crate) meta: Raw,
    /// Parameters with nothing but this `_meta`.
    pub(crate) params: Raw,
}

/// The client's part of `initialize`.
#[derive(Debug, Clone)]
pub(crate) struct Introduction {
    pub(crate) capabilities: Raw,
    pub(crate) info: Option<Raw>,
}

/// The channel for messages that belong to no request.
pub(crate) enum Outlet {
    /// Streamable HTTP: resumable streams.
    Streams(Streams),
    /// Stdio or HTTP+SSE: the client's only channel.
    Duplex(Outgoing),
}

/// A question as a request to the client.
pub(crate) struct Asking {
    pub(crate) id: RequestId,
    pub(crate) request: Envelope,
    /// The generated id of a URL elicitation, for its completion notification.
    pub(crate) elicitation_id: Option<String>,
}

/// A request in flight; dropping this removes it from the session.
pub(crate) struct Underway {
    session: Arc<Session>,
    id: RequestId,
    cancelled: Arc<Cancelled>,
}

/// The cancellation flag of a request, and the task that waits for it.
#[derive(Default)]
struct Cancelled {
    flag: AtomicBool,
    waiting: AtomicWaker,
}

impl Session {
    pub(crate) fn new(
        caller: Arc<Caller>,
        revision: Revision,
        client: Introduction,
        outlet: Outlet,
    ) -> Arc<Self> {
        let key = crate::era::unguessable().into();
        Arc::new(Self { key: Some(key), ..Self::without_key(caller, revision, client, outlet) })
    }

    /// The session of a single request.
    pub(crate) fn of_one_request(
        caller: Arc<Caller>,
        revision: Revision,
        client: Introduction,
        outlet: Outlet,
    ) -> Arc<Self> {
        Arc::new(Self::without_key(caller, revision, client, outlet))
    }

    fn without_key(caller: Arc<Caller>, revision: Revision, client: Introduction, outlet: Outlet) -> Self {
        Self {
            id: crate::era::unguessable(),
            key: None,
            caller,
            revision,
            client,
            outlet,
            listening: Listening::default(),
            level: Mutex::default(),
            meta: Mutex::default(),
            questions: Mutex::default(),
            next_question: AtomicU64::new(1),
            calls: Mutex::default(),
            touched: Mutex::new(Moment::now()),
        }
    }

    /// True if other clients cannot share this client's identity: it is authenticated, or has its
    /// own channel.
    pub(crate) fn is_identified(&self) -> bool {
        matches!(self.outlet, Outlet::Duplex(_)) || self.caller.id != Caller::local().id
    }

    /// The log level that the client set.
    pub(crate) fn level(&self) -> Option<Level> {
        *self.level.lock()
    }

    pub(crate) fn set_level(&self, level: Level) {
        *self.level.lock() = Some(level);
        *self.meta.lock() = None;
    }

    /// Returns the cached `_meta`, or builds it with `write`.
    pub(crate) fn meta(&self, write: impl FnOnce() -> Raw) -> SessionMeta {
        self.meta.lock().get_or_insert_with(|| SessionMeta::new(write())).clone()
    }

    pub(crate) fn touch(&self) {
        *self.touched.lock() = Moment::now();
        self.listening.touch();
    }

    pub(crate) fn silent_since(&self) -> Moment {
        *self.touched.lock()
    }

    /// Registers a request. A duplicate id and more than `most` requests are refused.
    pub(crate) fn begin(self: &Arc<Self>, id: &RequestId, most: usize) -> Result<Underway, Fault> {
        let mut calls = self.calls.lock();
        let under_way = calls.len();
        let Entry::Vacant(vacant) = calls.by_id().entry(id.clone()) else {
            return Err(Fault::new(FaultKind::InvalidRequest, "a request with this id is already in flight"));
        };
        if under_way >= most {
            return Err(Fault::new(
                FaultKind::Overloaded,
                format!("no more requests may be in flight (limit {most}); wait for a response"),
            ));
        }
        let cancelled = vacant.insert(Arc::default()).clone();
        Ok(Underway { session: self.clone(), id: id.clone(), cancelled })
    }

    /// Cancels a request. Ids that are not in flight are ignored.
    pub(crate) fn cancel(&self, id: &RequestId) {
        if let Some(cancelled) = self.calls.lock().get(id) {
            cancelled.set();
        }
    }

    /// Registers a question and converts it to a request to the client. If the client's revision
    /// cannot express the question, it is declined.
    pub(crate) fn ask(&self, question: Question) -> Option<Asking> {
        let Some(Lowered { params, elicitation_id }) =
            lower_question(&question.method, question.params.as_ref(), self.revision)
        else {
            question.answer(Ok(serde_json::json!({"action": "decline"}).into()));
            return None;
        };
        let id =
            RequestId::text(&format!("trunkline-{}", self.next_question.fetch_add(1, Ordering::Relaxed)));
        let request = Request::new(id.clone(), question.method.clone(), params);
        self.questions.lock().insert(id.clone(), question);
        Some(Asking { id, request: request.into(), elicitation_id })
    }

    /// Declines the open questions of a call that has ended.
    pub(crate) fn withdraw(&self, asked: &[RequestId]) {
        let withdrawn: Vec<Question> = {
            let mut questions = self.questions.lock();
            asked.iter().filter_map(|id| questions.remove(id)).collect()
        };
        // Dropping a question declines it, which must not happen under the lock.
        drop(withdrawn);
    }

    /// Passes an answer of the client to its question. Unknown ids are ignored.
    pub(crate) fn answer(&self, response: Response) {
        let question = response.id.as_ref().and_then(|id| self.questions.lock().remove(id));
        let Some(question) = question else { return };
        let method = question.method.clone();
        question
            .answer(response.outcome.map_err(|error| Fault::from_peer(error, self.revision.era(), &method)));
    }

    /// Sends a message that belongs to no request. It is dropped if the client does not read.
    pub(crate) fn tell(&self, envelope: &Envelope) {
        match &self.outlet {
            Outlet::Streams(streams) => streams.standalone().push(envelope),
            Outlet::Duplex(outgoing) => outgoing.tell(envelope),
        }
    }

    /// Ready when no call is in flight.
    pub(crate) fn poll_quiet(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.calls.lock().poll_quiet(cx)
    }

    /// Ends the session: cancels its calls, questions and subscriptions, and closes its streams.
    pub(crate) fn end(&self) {
        self.listening.stop();
        self.questions.lock().clear();
        let calls = self.calls.lock().take();
        for cancelled in calls {
            cancelled.set();
        }
        if let Outlet::Streams(streams) = &self.outlet {
            streams.close();
        }
    }
}

impl SessionMeta {
    fn new(meta: Raw) -> Self {
        let mut params = Object::new();
        params.set("_meta", meta.clone());
        Self { meta, params: params.to_raw() }
    }
}

impl Introduction {
    /// Reads the parameters of `initialize`. Copies them, so that the request buffer can be freed.
    pub(crate) fn read(params: &Object) -> Self {
        let capabilities = params.get("capabilities").filter(|raw| raw.is_object()).map(Raw::detached);
        Self {
            capabilities: capabilities.unwrap_or_else(Raw::empty_object),
            info: params.get("clientInfo").map(Raw::detached),
        }
    }
}

impl Underway {
    /// Ready when the client has cancelled the request. Only one task can wait at a time.
    pub(crate) fn poll_cancelled(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.cancelled.waiting.register(cx.waker());
        if self.cancelled.flag.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
    }

    pub(crate) fn id(&self) -> &RequestId {
        &self.id
    }
}

impl Cancelled {
    fn set(&self) {
        self.flag.store(true, Ordering::Release);
        self.waiting.wake();
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.session.calls.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outgoing::event_queue;

    fn session(outlet: Outlet) -> Arc<Session> {
        let client = Introduction { capabilities: Raw::empty_object(), info: None };
        Session::new(Caller::local(), Revision::NEWEST_LEGACY, client, outlet)
    }

    #[test]
    fn over_http_nobody_is_known_who_does_not_say_who_it_is() {
        assert!(session(Outlet::Duplex(Outgoing::Queue(event_queue(1).0))).is_identified());
        assert!(!session(Outlet::Streams(Streams::new(1, 1))).is_identified());
    }
}
