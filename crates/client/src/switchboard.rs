//! Switchboard: dispatches every message of a server to its call, to the host or to the listeners.

use crate::{
    era::{covers, declarable, needed_for},
    host::{Asked, Host},
    inbox::{Arrival, Inbox, Loss, LossKind},
    line_lock::LineLock,
    options::ConnectOptions,
};
use futures_util::future::BoxFuture;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
};
use tokio::{
    runtime,
    sync::{OwnedSemaphorePermit, Semaphore, broadcast, watch},
    task::AbortHandle,
};
use trunkline_protocol::{
    Envelope, Era, ErrorObject, Fault, FaultKind, Malformed, Notification, Outcome, Question, Raw, Request,
    RequestId, Response, Revision, method,
};
use trunkline_resilience::LogThrottle;

/// Limit of open questions of a server; further ones are refused.
const MAX_QUESTIONS: usize = 32;
/// Limit of immediate answers in flight to the server. Questions beyond it get no answer, so that
/// a server that does not read cannot fill our memory.
const MAX_ANSWERS: usize = 256;
/// Notifications buffered for a slow listener.
const EVENT_QUEUE: usize = 1024;

/// Sends answers to the server.
pub(crate) type Outlet = Arc<dyn Fn(Envelope) -> BoxFuture<'static, Result<(), Fault>> + Send + Sync>;

pub(crate) struct Switchboard {
    calls: Mutex<Calls>,
    /// Events are in an `Arc`, because the channel allocates all its slots in advance.
    events: broadcast::Sender<Arc<Notification>>,
    host: Arc<dyn Host>,
    /// Capabilities of the client whose calls we relay. If set, questions go to calls, not to the
    /// host.
    behalf: Option<Value>,
    pub(crate) line_lock: LineLock,
    /// Number of questions that were passed to calls and are not answered.
    asking: Arc<AtomicUsize>,
    questions: Mutex<HashMap<RequestId, AbortHandle>>,
    question_slots: Arc<Semaphore>,
    answer_slots: Arc<Semaphore>,
    strays: AtomicU64,
    noise: AtomicU64,
    malformed: LogThrottle,
    lost: watch::Sender<Option<Fault>>,
}

/// The calls in flight, until the connection is lost.
enum Calls {
    Open(HashMap<RequestId, PendingCall, foldhash::fast::RandomState>),
    Lost(Loss),
}

struct PendingCall {
    inbox: Arc<Inbox>,
    standing: Standing,
}

/// Tells which questions and notifications without a call id may belong to a call in flight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Our own request: none.
    Own,
    /// A caller's request during which a server does not ask questions.
    Plain,
    /// A caller's request about this tool, prompt or resource, during which a server may ask
    /// questions.
    Askable(Arc<str>),
}

/// The calls that a question without a call id may belong to.
enum QuestionTarget {
    NoCall,
    One(Arc<Inbox>, Arc<str>),
    Several,
}

/// The registration of a call for its messages; dropping it removes the call.
pub(crate) struct Ticket {
    board: Arc<Switchboard>,
    pub(crate) id: RequestId,
    pub(crate) inbox: Arc<Inbox>,
    /// The last arrival was delivered, so the call is no longer registered.
    over: bool,
}

impl Switchboard {
    pub(crate) fn new(options: &ConnectOptions) -> Arc<Self> {
        // Questions are checked against the newest legacy revision: an older server got fewer
        // capabilities, and a modern one does not send its questions as requests.
        let behalf = options.behalf.as_ref();
        let behalf =
            behalf.and_then(|behalf| declarable(&behalf.capabilities, Revision::NEWEST_LEGACY).decode().ok());
        Arc::new(Self {
            calls: Mutex::new(Calls::Open(HashMap::default())),
            events: broadcast::Sender::new(EVENT_QUEUE),
            host: options.host.clone(),
            behalf,
            line_lock: LineLock::new(),
            asking: Arc::default(),
            questions: Mutex::default(),
            question_slots: Arc::new(Semaphore::new(MAX_QUESTIONS)),
            answer_slots: Arc::new(Semaphore::new(MAX_ANSWERS)),
            strays: AtomicU64::new(0),
            noise: AtomicU64::new(0),
            malformed: LogThrottle::default(),
            lost: watch::Sender::new(None),
        })
    }

    /// Registers a call for its messages.
    pub(crate) fn expect(self: &Arc<Self>, id: RequestId, standing: Standing) -> Ticket {
        let inbox = Arc::new(Inbox::default());
        match &mut *self.calls() {
            Calls::Open(pending) => {
                drop(pending.insert(id.clone(), PendingCall { inbox: inbox.clone(), standing }));
            }
            Calls::Lost(loss) => inbox.push(Arrival::Lost(loss.clone())),
        }
        Ticket { board: self.clone(), id, inbox, over: false }
    }

    /// Notifications that belong to no call.
    pub(crate) fn events(&self) -> broadcast::Receiver<Arc<Notification>> {
        self.events.subscribe()
    }

    /// Number of messages that belong to no request of ours.
    pub(crate) fn strays(&self) -> u64 {
        self.strays.load(Ordering::Relaxed)
    }

    /// Number of lines that were not messages.
    pub(crate) fn noise(&self) -> u64 {
        self.noise.load(Ordering::Relaxed)
    }

    pub(crate) fn count_noise(&self) {
        self.noise.fetch_add(1, Ordering::Relaxed);
    }

    /// Watches the reason of the connection's loss; `None` while it is open.
    pub(crate) fn watch_loss(&self) -> watch::Receiver<Option<Fault>> {
        self.lost.subscribe()
    }

    pub(crate) fn dispatch(self: &Arc<Self>, envelope: Envelope, outlet: &Outlet) {
        match envelope {
            Envelope::Response(response) => self.respond(response),
            Envelope::Notification(notification) => self.announce(notification),
            Envelope::Request(request) => self.ask(request, outlet),
        }
    }

    /// Fails the call of a malformed frame, if the frame has a readable id.
    pub(crate) fn malformed(&self, malformed: &Malformed) {
        if let Some(messages) = self.malformed.count(1) {
            tracing::warn!(%malformed, messages, "the server sent a malformed message");
        }
        let inbox = malformed.id.as_ref().and_then(|id| self.take(id));
        self.count_stray(inbox.is_none());
        if let Some(inbox) = inbox {
            let fault =
                Fault::new(FaultKind::BadAnswer, format!("the server's answer is malformed: {malformed}"));
            inbox.push(Arrival::Lost(Loss { fault, how: LossKind::Line }));
        }
    }

    /// Fails all calls in flight; the connection stays open.
    pub(crate) fn fail_all(&self, fault: &Fault) {
        let pending = match &mut *self.calls() {
            Calls::Open(pending) => std::mem::take(pending),
            Calls::Lost(_) => return,
        };
        let loss = Loss { fault: fault.clone(), how: LossKind::Line };
        for call in pending.into_values() {
            call.inbox.push(Arrival::Lost(loss.clone()));
        }
    }

    /// Marks the connection as lost: fails all calls in flight and all later ones.
    pub(crate) fn lose(&self, fault: &Fault) {
        self.fail_all(fault);
        let mut calls = self.calls();
        if matches!(*calls, Calls::Open(_)) {
            *calls = Calls::Lost(Loss { fault: fault.clone(), how: LossKind::Line });
        }
        drop(calls);
        self.lost.send_if_modified(|lost| {
            let first = lost.is_none();
            lost.get_or_insert_with(|| fault.clone());
            first
        });
        self.questions().drain().for_each(|(_, question)| question.abort());
    }

    fn respond(&self, response: Response) {
        let inbox = response.id.as_ref().and_then(|id| self.take(id));
        self.count_stray(inbox.is_none());
        if let Some(inbox) = inbox {
            inbox.push(Arrival::Response(response.outcome));
        } else {
            tracing::debug!(id = ?response.id, "dropped a response that matches no request");
        }
    }

    fn announce(&self, notification: Notification) {
        match self.owner(&notification) {
            Owner::Call(inbox) => inbox.push(Arrival::Notification(notification)),
            Owner::Unknown => self.count_stray(true),
            Owner::Question(id) => {
                if let Some(question) = self.questions().remove(&id) {
                    question.abort();
                }
            }
            Owner::Everyone => self.publish(notification),
        }
    }

    pub(crate) fn publish(&self, notification: Notification) {
        self.host.notice(&notification);
        // An error only means that there is no listener.
        drop(self.events.send(Arc::new(notification)));
    }

    fn owner(&self, notification: &Notification) -> Owner {
        let params = notification.params.as_ref();
        let id = |name: &str| params?.member(name).and_then(|raw| RequestId::read(raw).ok());
        match notification.method.as_ref() {
            method::PROGRESS => {
                id("progressToken").and_then(|id| self.find(&id)).map_or(Owner::Unknown, Owner::Call)
            }
            method::CANCELLED => match id("requestId") {
                Some(id) => self.find(&id).map_or(Owner::Question(id), Owner::Call),
                None => Owner::Unknown,
            },
            method::MESSAGE if self.behalf.is_some() => {
                self.sole_caller().map_or(Owner::Everyone, Owner::Call)
            }
            _ => subscription_of(params)
                .map_or(Owner::Everyone, |id| self.find(&id).map_or(Owner::Unknown, Owner::Call)),
        }
    }

    /// The only open call of a caller, if there is just one. Calls during which a server may ask
    /// take precedence over plain requests such as lists.
    fn sole_caller(&self) -> Option<Arc<Inbox>> {
        match self.question_target() {
            QuestionTarget::One(inbox, _) => return Some(inbox),
            QuestionTarget::Several => return None,
            QuestionTarget::NoCall => {}
        }
        let calls = self.calls();
        let Calls::Open(pending) = &*calls else { return None };
        let mut callers = pending.values().filter(|call| call.standing != Standing::Own);
        let sole = callers.next()?;
        callers.next().is_none().then(|| sole.inbox.clone())
    }

    /// The call that a question on a shared line belongs to.
    fn question_target(&self) -> QuestionTarget {
        let calls = self.calls();
        let Calls::Open(pending) = &*calls else { return QuestionTarget::NoCall };
        let mut askable = pending.values().filter_map(|call| match &call.standing {
            Standing::Askable(subject) => Some((call.inbox.clone(), subject.clone())),
            Standing::Own | Standing::Plain => None,
        });
        match (askable.next(), askable.next()) {
            (None, _) => QuestionTarget::NoCall,
            (Some((inbox, subject)), None) => QuestionTarget::One(inbox, subject),
            (Some(_), Some(_)) => QuestionTarget::Several,
        }
    }

    fn ask(self: &Arc<Self>, request: Request, outlet: &Outlet) {
        if request.method == method::PING {
            return self.reply(outlet, request.id, Ok(Raw::empty_object()));
        }
        if self.behalf.is_some() {
            match self.question_target() {
                QuestionTarget::One(inbox, subject) => {
                    self.line_lock.asked(&subject);
                    if let Some(arrival) = self.question(request, outlet) {
                        inbox.push(arrival);
                    }
                    return;
                }
                QuestionTarget::Several => {
                    self.line_lock.asked_by_anyone();
                    let fault = "several calls are open, and the question does not say which of them it belongs to; calls now run one at a time, so ask again during the next call";
                    return self.reply(outlet, request.id, Err(Fault::new(FaultKind::Declined, fault)));
                }
                QuestionTarget::NoCall if self.lacks(&request).is_some() => {
                    let fault = format!("the client does not offer `{}`", request.method);
                    let fault = Fault::new(FaultKind::NotAvailable, fault);
                    return self.reply(outlet, request.id, Err(fault));
                }
                QuestionTarget::NoCall => {}
            }
        }
        self.ask_host(request, outlet);
    }

    /// True if a call waits for its caller's answer to a question.
    pub(crate) fn is_asking(&self) -> bool {
        self.asking.load(Ordering::Acquire) > 0
    }

    /// True if the connection is open and no call is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(&*self.calls(), Calls::Open(pending) if pending.is_empty())
    }

    /// The capability that this question needs and that the relayed client lacks.
    fn lacks(&self, request: &Request) -> Option<Value> {
        let behalf = self.behalf.as_ref()?;
        match needed_for(&request.method, request.params.as_ref()) {
            Some(needed) => (!covers(behalf, &needed)).then_some(needed),
            None => Some(Value::Null),
        }
    }

    /// True if the relayed client declared nothing. Such clients share a session, and the relaying
    /// caller refuses questions for each of them.
    fn is_plain(&self) -> bool {
        self.behalf.as_ref().and_then(Value::as_object).is_some_and(serde_json::Map::is_empty)
    }

    /// Converts a question into an arrival of its call. A question that the client cannot answer
    /// is refused here, and the call gets [`Arrival::Unanswerable`].
    pub(crate) fn question(&self, request: Request, outlet: &Outlet) -> Option<Arrival> {
        let lacks = self.lacks(&request);
        if let Some(needed) = lacks.filter(|needed| needed.is_null() || !self.is_plain()) {
            let fault = format!("the client does not offer `{}`", request.method);
            self.reply(outlet, request.id, Err(Fault::new(FaultKind::NotAvailable, fault)));
            return Some(Arrival::Unanswerable(needed.into()));
        }
        let Some(permit) = self.question_permit() else {
            self.refuse(outlet, request.id);
            return None;
        };
        let runtime = runtime::Handle::try_current().ok()?;
        let (outlet, id) = (outlet.clone(), request.id);
        let asking = self.asking.clone();
        asking.fetch_add(1, Ordering::AcqRel);
        let answer = move |outcome| {
            asking.fetch_sub(1, Ordering::AcqRel);
            runtime.spawn(async move {
                send_answer(outlet, id, outcome).await;
                drop(permit);
            });
        };
        Some(Arrival::Question(Question::new(request.method, request.params, answer)))
    }

    fn ask_host(self: &Arc<Self>, request: Request, outlet: &Outlet) {
        let Some(permit) = self.question_permit() else {
            return self.refuse(outlet, request.id);
        };
        let outlet = outlet.clone();
        let (board, id) = (self.clone(), request.id.clone());
        // The lock is held until the entry is inserted, so the task cannot remove it before.
        let mut questions = self.questions();
        let task = tokio::spawn(async move {
            let Request { id, method, params, .. } = request;
            let outcome = board.host.answer(Asked { method, params }).await;
            board.questions().remove(&id);
            send_answer(outlet, id, outcome).await;
            drop(permit);
        });
        questions.insert(id, task.abort_handle());
    }

    /// A permit for one more open question, held until the answer is sent.
    fn question_permit(&self) -> Option<OwnedSemaphorePermit> {
        self.question_slots.clone().try_acquire_owned().ok()
    }

    /// Answers that too many questions are open.
    fn refuse(&self, outlet: &Outlet, id: RequestId) {
        self.reply(outlet, id, Err(Fault::new(FaultKind::Overloaded, "too many questions are open")));
    }

    /// Sends an immediate answer. If too many are queued already, the question is dropped.
    pub(crate) fn reply(&self, outlet: &Outlet, id: RequestId, outcome: Outcome) {
        let Ok(permit) = self.answer_slots.clone().try_acquire_owned() else { return self.count_stray(true) };
        let outlet = outlet.clone();
        tokio::spawn(async move {
            send_answer(outlet, id, outcome).await;
            drop(permit);
        });
    }

    fn find(&self, id: &RequestId) -> Option<Arc<Inbox>> {
        match &*self.calls() {
            Calls::Open(pending) => pending.get(id).map(|call| call.inbox.clone()),
            Calls::Lost(_) => None,
        }
    }

    fn take(&self, id: &RequestId) -> Option<Arc<Inbox>> {
        match &mut *self.calls() {
            Calls::Open(pending) => pending.remove(id).map(|call| call.inbox),
            Calls::Lost(_) => None,
        }
    }

    fn count_stray(&self, is_stray: bool) {
        self.strays.fetch_add(u64::from(is_stray), Ordering::Relaxed);
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock()
    }

    fn questions(&self) -> MutexGuard<'_, HashMap<RequestId, AbortHandle>> {
        self.questions.lock()
    }
}

/// The recipient of a notification.
enum Owner {
    Call(Arc<Inbox>),
    Question(RequestId),
    Everyone,
    Unknown,
}

impl Ticket {
    pub(crate) fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Arrival> {
        let arrival = ready!(self.inbox.poll_next(cx));
        self.over |= arrival.is_last();
        Poll::Ready(arrival)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.over {
            drop(self.board.take(&self.id));
        }
    }
}

/// The `subscriptions/listen` call that a modern notification belongs to.
fn subscription_of(params: Option<&Raw>) -> Option<RequestId> {
    let meta = params?.member("_meta")?;
    RequestId::read(meta.member("io.modelcontextprotocol/subscriptionId")?).ok()
}

/// Sends the answer to a question. Of a failure the server gets only the fault's public text.
async fn send_answer(outlet: Outlet, id: RequestId, outcome: Outcome) {
    let outcome = outcome.map_err(|fault| answer_error(&fault));
    if let Err(fault) = outlet(Response::new(id, outcome).into()).await {
        tracing::debug!(%fault, "could not deliver an answer");
    }
}

/// The error of a refused question. Legacy servers know −1 as "the user declined".
fn answer_error(fault: &Fault) -> ErrorObject {
    match fault.kind() {
        FaultKind::Declined => ErrorObject::new(-1, fault.message()),
        _ => fault.to_error(Era::Legacy),
    }
}
