//! Session: one legacy client, for as long as it talks to us.

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
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
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
pub(crate) use stream::{Place, Reader, StreamLog, Streams};

/// What a server without another wish sends to a client that set no log level.
const DEFAULT_LEVEL: Level = Level::Info;

pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) caller: Arc<Caller>,
    pub(crate) revision: Revision,
    /// What the client said of itself: `capabilities` and `clientInfo`.
    pub(crate) client: Introduction,
    pub(crate) outlet: Outlet,
    pub(crate) listening: Listening,
    level: Mutex<Level>,
    /// What the client tells with every request, once it was written.
    always: Mutex<Option<Always>>,
    questions: Mutex<HashMap<RequestId, Question>>,
    next_question: AtomicU64,
    calls: Mutex<Calls<Arc<Cancelled>>>,
    touched: Mutex<Moment>,
}

/// What a session tells with every request.
#[derive(Clone)]
pub(crate) struct Always {
    pub(crate) meta: Raw,
    /// The parameters of a request that has none but this `_meta`.
    pub(crate) params: Raw,
}

/// How a client introduced itself.
#[derive(Debug, Clone)]
pub(crate) struct Introduction {
    pub(crate) capabilities: Raw,
    pub(crate) info: Option<Raw>,
}

/// Where messages go that belong to no request.
pub(crate) enum Outlet {
    /// Over HTTP: streams that can be taken up again.
    Streams(Streams),
    /// Over stdio or HTTP+SSE: the one line there is.
    Line(Outgoing),
}

/// A question on its way to the client.
pub(crate) struct Asking {
    pub(crate) id: RequestId,
    pub(crate) request: Envelope,
    /// The id of a visit that the client will be told of once it counts.
    pub(crate) visit: Option<String>,
}

/// A request under way; it is forgotten when this is dropped.
pub(crate) struct Underway {
    session: Arc<Session>,
    id: RequestId,
    cancelled: Arc<Cancelled>,
}

/// Whether a client still wants the answer to a request, and whoever waits for it.
#[derive(Default)]
struct Cancelled {
    told: AtomicBool,
    waiting: AtomicWaker,
}

impl Session {
    pub(crate) fn new(
        caller: Arc<Caller>,
        revision: Revision,
        client: Introduction,
        outlet: Outlet,
    ) -> Arc<Self> {
        Arc::new(Self {
            id: crate::era::unguessable(),
            caller,
            revision,
            client,
            outlet,
            listening: Listening::default(),
            level: Mutex::new(DEFAULT_LEVEL),
            always: Mutex::default(),
            questions: Mutex::default(),
            next_question: AtomicU64::new(1),
            calls: Mutex::default(),
            touched: Mutex::new(Moment::now()),
        })
    }

    /// Whether this client is told apart from others: by a line of its own, or by who it is.
    pub(crate) fn is_identified(&self) -> bool {
        matches!(self.outlet, Outlet::Line(_)) || self.caller.id != Caller::local().id
    }

    pub(crate) fn level(&self) -> Level {
        *lock(&self.level)
    }

    pub(crate) fn set_level(&self, level: Level) {
        *lock(&self.level) = level;
        *lock(&self.always) = None;
    }

    /// What every request tells.
    pub(crate) fn always(&self, write: impl FnOnce() -> Raw) -> Always {
        lock(&self.always).get_or_insert_with(|| Always::new(write())).clone()
    }

    pub(crate) fn touch(&self) {
        *lock(&self.touched) = Moment::now();
    }

    pub(crate) fn silent_since(&self) -> Moment {
        *lock(&self.touched)
    }

    /// Notes a request; a second one of the same id, or too many, are refused.
    pub(crate) fn begin(self: &Arc<Self>, id: &RequestId, most: usize) -> Result<Underway, Fault> {
        let mut calls = lock(&self.calls);
        let under_way = calls.len();
        let Entry::Vacant(place) = calls.by_id().entry(id.clone()) else {
            return Err(Fault::new(FaultKind::InvalidRequest, "a request with this id is under way already"));
        };
        if under_way >= most {
            return Err(Fault::new(FaultKind::Overloaded, format!("{most} requests are under way already")));
        }
        let cancelled = place.insert(Arc::default()).clone();
        Ok(Underway { session: self.clone(), id: id.clone(), cancelled })
    }

    /// The client no longer wants an answer; an id that is not under way is none of our business.
    pub(crate) fn cancel(&self, id: &RequestId) {
        if let Some(cancelled) = lock(&self.calls).get(id) {
            cancelled.tell();
        }
    }

    /// Turns a question into a request to the client, whose answer will find it. One that the client's revision has no form
    /// for is declined instead.
    pub(crate) fn ask(&self, question: Question) -> Option<Asking> {
        let Some(Lowered { params, visit }) =
            lower_question(&question.method, question.params.as_ref(), self.revision)
        else {
            question.answer(Ok(serde_json::json!({"action": "decline"}).into()));
            return None;
        };
        let id =
            RequestId::text(&format!("trunkline-{}", self.next_question.fetch_add(1, Ordering::Relaxed)));
        let request = Request::new(id.clone(), question.method.clone(), params);
        lock(&self.questions).insert(id.clone(), question);
        Some(Asking { id, request: request.into(), visit })
    }

    /// The call that asked is over; whoever still waits for the answer hears that there will be none.
    pub(crate) fn withdraw(&self, asked: &[RequestId]) {
        let withdrawn: Vec<Question> = {
            let mut questions = lock(&self.questions);
            asked.iter().filter_map(|id| questions.remove(id)).collect()
        };
        // Dropped outside the lock: that refuses them.
        drop(withdrawn);
    }

    /// The client has answered a question.
    pub(crate) fn answer(&self, response: Response) {
        let question = response.id.as_ref().and_then(|id| lock(&self.questions).remove(id));
        let Some(question) = question else { return };
        let method = question.method.clone();
        question
            .answer(response.outcome.map_err(|error| Fault::from_peer(error, self.revision.era(), &method)));
    }

    /// Sends what belongs to no request. A client that does not listen misses it.
    pub(crate) fn tell(&self, envelope: Envelope) {
        match &self.outlet {
            Outlet::Streams(streams) => streams.standalone().push(&envelope),
            Outlet::Line(line) => line.tell(envelope),
        }
    }

    /// Ready when no call is under way.
    pub(crate) fn poll_quiet(&self, cx: &mut Context<'_>) -> Poll<()> {
        lock(&self.calls).poll_quiet(cx)
    }

    /// The session is over: nothing of it goes on.
    pub(crate) fn end(&self) {
        self.listening.stop();
        lock(&self.questions).clear();
        let calls = lock(&self.calls).take();
        for cancelled in calls {
            cancelled.tell();
        }
        if let Outlet::Streams(streams) = &self.outlet {
            streams.close();
        }
    }
}

impl Always {
    fn new(meta: Raw) -> Self {
        let mut params = Object::new();
        params.set("_meta", meta.clone());
        Self { meta, params: params.to_raw() }
    }
}

impl Introduction {
    /// Reads the parameters of `initialize`. What is kept of them does not keep the buffer they came in.
    pub(crate) fn read(params: &Object) -> Self {
        let capabilities = params.get("capabilities").filter(|raw| raw.is_object()).map(Raw::detached);
        Self {
            capabilities: capabilities.unwrap_or_else(Raw::empty_object),
            info: params.get("clientInfo").map(Raw::detached),
        }
    }
}

impl Underway {
    /// Ends once the client wants no answer any more. One task waits for it at a time.
    pub(crate) fn poll_cancelled(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.cancelled.waiting.register(cx.waker());
        if self.cancelled.told.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
    }

    /// The request.
    pub(crate) fn id(&self) -> &RequestId {
        &self.id
    }
}

impl Cancelled {
    fn tell(&self) {
        self.told.store(true, Ordering::Release);
        self.waiting.wake();
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        lock(&self.session.calls).remove(&self.id);
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    fn session(outlet: Outlet) -> Arc<Session> {
        let client = Introduction { capabilities: Raw::empty_object(), info: None };
        Session::new(Caller::local(), Revision::NEWEST_LEGACY, client, outlet)
    }

    #[test]
    fn over_http_nobody_is_known_who_does_not_say_who_it_is() {
        assert!(session(Outlet::Line(Outgoing::Queue(mpsc::channel(1).0))).is_identified());
        assert!(!session(Outlet::Streams(Streams::new(1, 1))).is_identified());
    }
}
