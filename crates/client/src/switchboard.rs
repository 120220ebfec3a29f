//! Switchboard: every message that a server sends goes to the call, the host or the listener it is meant for.

use crate::{
    era::{covers, declarable, needed_for},
    host::{Asked, Host},
    inbox::{Arrival, Inbox, Loss, LossKind},
    line_lock::LineLock,
    options::ConnectOptions,
};
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
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

/// Questions of a server that may be open at once; further ones are refused.
const MAX_QUESTIONS: usize = 32;
/// Answers that may be on their way to the server at once. A server that asks more while it takes no answers gets none.
const MAX_ANSWERS: usize = 256;
/// Notifications kept for a listener that does not listen.
const EVENT_QUEUE: usize = 1024;

/// The way back to the server, for answers.
pub(crate) type Outlet = Arc<dyn Fn(Envelope) -> BoxFuture<'static, Result<(), Fault>> + Send + Sync>;

pub(crate) struct Switchboard {
    lines: Mutex<Lines>,
    /// Shared, because every place of the queue has room for an event from the start.
    events: broadcast::Sender<Arc<Notification>>,
    host: Arc<dyn Host>,
    /// What the client behind us can do, when we only pass on: then questions go to calls.
    behalf: Option<Value>,
    pub(crate) line_lock: LineLock,
    /// Questions that were put to calls and are not answered.
    asking: Arc<AtomicUsize>,
    questions: Mutex<HashMap<RequestId, AbortHandle>>,
    room: Arc<Semaphore>,
    answers: Arc<Semaphore>,
    stray: AtomicU64,
    noise: AtomicU64,
    lost: watch::Sender<Option<Fault>>,
}

/// The calls that wait, until the line is lost for good.
enum Lines {
    Open(HashMap<RequestId, Waiting, foldhash::fast::RandomState>),
    Lost(Loss),
}

struct Waiting {
    inbox: Arc<Inbox>,
    part: Standing,
}

/// What a call that waits has to do with things that name no call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Our own business.
    Own,
    /// A caller's request, during which a server has nothing to ask.
    Plain,
    /// A caller's request about this tool, prompt or resource, during which a server may ask.
    Askable(Arc<str>),
}

/// Who is meant by a message that names nobody.
enum Meant {
    Nobody,
    One(Arc<Inbox>, Arc<str>),
    Several,
}

/// A place for one call's messages; leaving it, the call is forgotten.
pub(crate) struct Ticket {
    board: Arc<Switchboard>,
    pub(crate) id: RequestId,
    pub(crate) inbox: Arc<Inbox>,
    /// The last arrival was taken, so there is nothing to forget.
    over: bool,
}

impl Switchboard {
    pub(crate) fn new(options: &ConnectOptions) -> Arc<Self> {
        // What the server may ask is checked against the newest legacy revision: an older server was told of less, and a
        // modern one does not ask this way.
        let behalf = options.behalf.as_ref();
        let behalf = behalf.map(|behalf| declarable(&behalf.capabilities, Revision::NEWEST_LEGACY));
        Arc::new(Self {
            lines: Mutex::new(Lines::Open(HashMap::default())),
            events: broadcast::Sender::new(EVENT_QUEUE),
            host: options.host.clone(),
            behalf,
            line_lock: LineLock::new(),
            asking: Arc::default(),
            questions: Mutex::default(),
            room: Arc::new(Semaphore::new(MAX_QUESTIONS)),
            answers: Arc::new(Semaphore::new(MAX_ANSWERS)),
            stray: AtomicU64::new(0),
            noise: AtomicU64::new(0),
            lost: watch::Sender::new(None),
        })
    }

    /// Makes room for the messages of a call.
    pub(crate) fn expect(self: &Arc<Self>, id: RequestId, part: Standing) -> Ticket {
        let inbox = Arc::new(Inbox::default());
        match &mut *self.lines() {
            Lines::Open(pending) => {
                drop(pending.insert(id.clone(), Waiting { inbox: inbox.clone(), part }));
            }
            Lines::Lost(loss) => inbox.push(Arrival::Lost(loss.clone())),
        }
        Ticket { board: self.clone(), id, inbox, over: false }
    }

    /// Notifications that belong to no call.
    pub(crate) fn events(&self) -> broadcast::Receiver<Arc<Notification>> {
        self.events.subscribe()
    }

    /// Messages that answered nothing we asked.
    pub(crate) fn strays(&self) -> u64 {
        self.stray.load(Ordering::Relaxed)
    }

    /// Lines that were no messages at all.
    pub(crate) fn noise(&self) -> u64 {
        self.noise.load(Ordering::Relaxed)
    }

    pub(crate) fn count_noise(&self) {
        self.noise.fetch_add(1, Ordering::Relaxed);
    }

    /// Why the line is gone, once it is.
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

    /// A frame that is no message may still name the call it was meant for.
    pub(crate) fn malformed(&self, malformed: &Malformed) {
        tracing::warn!(%malformed, "the server sent a frame that breaks the protocol");
        let inbox = malformed.id.as_ref().and_then(|id| self.take(id));
        self.count_stray(inbox.is_none());
        if let Some(inbox) = inbox {
            let fault =
                Fault::new(FaultKind::BadAnswer, format!("the server's answer is malformed: {malformed}"));
            inbox.push(Arrival::Lost(Loss { fault, how: LossKind::Line }));
        }
    }

    /// Ends all calls that wait; the line itself may go on.
    pub(crate) fn fail_all(&self, fault: &Fault) {
        let pending = match &mut *self.lines() {
            Lines::Open(pending) => std::mem::take(pending),
            Lines::Lost(_) => return,
        };
        let loss = Loss { fault: fault.clone(), how: LossKind::Line };
        for waiting in pending.into_values() {
            waiting.inbox.push(Arrival::Lost(loss.clone()));
        }
    }

    /// The line is gone: ends all calls that wait, and all that will come.
    pub(crate) fn lose(&self, fault: &Fault) {
        self.fail_all(fault);
        let mut lines = self.lines();
        if matches!(*lines, Lines::Open(_)) {
            *lines = Lines::Lost(Loss { fault: fault.clone(), how: LossKind::Line });
        }
        drop(lines);
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
            tracing::debug!(id = ?response.id, "dropped an answer to nothing we asked");
        }
    }

    fn announce(&self, notification: Notification) {
        match self.owner(&notification) {
            Owner::Call(inbox) => inbox.push(Arrival::Notification(notification)),
            Owner::Nobody => self.count_stray(true),
            Owner::Question(id) => {
                if let Some(question) = self.questions().remove(&id) {
                    question.abort();
                }
            }
            Owner::Everyone => self.tell(notification),
        }
    }

    pub(crate) fn tell(&self, notification: Notification) {
        self.host.notice(&notification);
        // Nobody may be listening, which is no failure.
        drop(self.events.send(Arc::new(notification)));
    }

    fn owner(&self, notification: &Notification) -> Owner {
        let params = notification.params.as_ref();
        let id = |name: &str| params?.member(name).and_then(|raw| RequestId::read(raw).ok());
        match notification.method.as_ref() {
            method::PROGRESS => {
                id("progressToken").and_then(|id| self.find(&id)).map_or(Owner::Nobody, Owner::Call)
            }
            method::CANCELLED => match id("requestId") {
                Some(id) => self.find(&id).map_or(Owner::Question(id), Owner::Call),
                None => Owner::Nobody,
            },
            method::MESSAGE if self.behalf.is_some() => {
                self.sole_caller().map_or(Owner::Everyone, Owner::Call)
            }
            _ => subscription_of(params)
                .map_or(Owner::Everyone, |id| self.find(&id).map_or(Owner::Nobody, Owner::Call)),
        }
    }

    /// The only call of a caller that is open, if there is just one; one that the server works on comes before mere lists.
    fn sole_caller(&self) -> Option<Arc<Inbox>> {
        match self.meant() {
            Meant::One(inbox, _) => return Some(inbox),
            Meant::Several => return None,
            Meant::Nobody => {}
        }
        let lines = self.lines();
        let Lines::Open(pending) = &*lines else { return None };
        let mut callers = pending.values().filter(|waiting| waiting.part != Standing::Own);
        let sole = callers.next()?;
        callers.next().is_none().then(|| sole.inbox.clone())
    }

    /// Whose call a question belongs to that came on a line they all share.
    fn meant(&self) -> Meant {
        let lines = self.lines();
        let Lines::Open(pending) = &*lines else { return Meant::Nobody };
        let mut askable = pending.values().filter_map(|waiting| match &waiting.part {
            Standing::Askable(subject) => Some((waiting.inbox.clone(), subject.clone())),
            Standing::Own | Standing::Plain => None,
        });
        match (askable.next(), askable.next()) {
            (None, _) => Meant::Nobody,
            (Some((inbox, subject)), None) => Meant::One(inbox, subject),
            (Some(_), Some(_)) => Meant::Several,
        }
    }

    fn ask(self: &Arc<Self>, request: Request, outlet: &Outlet) {
        if request.method == method::PING {
            return self.reply(outlet, request.id, Ok(Raw::empty_object()));
        }
        if self.behalf.is_some() {
            match self.meant() {
                Meant::One(inbox, subject) => {
                    self.line_lock.asked(&subject);
                    if let Some(arrival) = self.question(request, outlet) {
                        inbox.push(arrival);
                    }
                    return;
                }
                Meant::Several => {
                    self.line_lock.asked_by_anyone();
                    let fault = "several calls are open, and nothing says which of them this question belongs to; from now on one call at a time is let through, so ask again when it is called again";
                    return self.reply(outlet, request.id, Err(Fault::new(FaultKind::Declined, fault)));
                }
                Meant::Nobody if self.lacks(&request).is_some() => {
                    let fault = format!("the client does not offer `{}`", request.method);
                    let fault = Fault::new(FaultKind::NotAvailable, fault);
                    return self.reply(outlet, request.id, Err(fault));
                }
                Meant::Nobody => {}
            }
        }
        self.ask_host(request, outlet);
    }

    /// Whether a call waits for its caller's answer.
    pub(crate) fn is_asking(&self) -> bool {
        self.asking.load(Ordering::Acquire) > 0
    }

    /// Whether nobody waits for anything.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(&*self.lines(), Lines::Open(pending) if pending.is_empty())
    }

    /// What the client behind us would have to offer for this question, and does not.
    fn lacks(&self, request: &Request) -> Option<Value> {
        let behalf = self.behalf.as_ref()?;
        match needed_for(&request.method, request.params.as_ref()) {
            Some(needed) => (!covers(behalf, &needed)).then_some(needed),
            None => Some(Value::Null),
        }
    }

    /// A question that belongs to a call. One that the client cannot answer is refused here, and the call hears of that.
    pub(crate) fn question(&self, request: Request, outlet: &Outlet) -> Option<Arrival> {
        if let Some(needed) = self.lacks(&request) {
            let fault = format!("the client does not offer `{}`", request.method);
            self.reply(outlet, request.id, Err(Fault::new(FaultKind::NotAvailable, fault)));
            return Some(Arrival::Unanswerable(needed.into()));
        }
        let Some(place) = self.room_for_question() else {
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
                drop(place);
            });
        };
        Some(Arrival::Question(Question::new(request.method, request.params, answer)))
    }

    fn ask_host(self: &Arc<Self>, request: Request, outlet: &Outlet) {
        let Some(place) = self.room_for_question() else {
            return self.refuse(outlet, request.id);
        };
        let outlet = outlet.clone();
        let (board, id) = (self.clone(), request.id.clone());
        // The lock is held until the entry is there, so the task cannot remove it before.
        let mut questions = self.questions();
        let task = tokio::spawn(async move {
            let Request { id, method, params, .. } = request;
            let outcome = board.host.answer(Asked { method, params }).await;
            board.questions().remove(&id);
            send_answer(outlet, id, outcome).await;
            drop(place);
        });
        questions.insert(id, task.abort_handle());
    }

    /// A place among the open questions, kept until the answer is sent.
    fn room_for_question(&self) -> Option<OwnedSemaphorePermit> {
        self.room.clone().try_acquire_owned().ok()
    }

    /// Tells the server that it asks too much.
    fn refuse(&self, outlet: &Outlet, id: RequestId) {
        self.reply(outlet, id, Err(Fault::new(FaultKind::Overloaded, "too many questions are open")));
    }

    /// Sends an answer that needed no thought. Where too many wait to be sent already, the question is dropped.
    pub(crate) fn reply(&self, outlet: &Outlet, id: RequestId, outcome: Outcome) {
        let Ok(place) = self.answers.clone().try_acquire_owned() else { return self.count_stray(true) };
        let outlet = outlet.clone();
        tokio::spawn(async move {
            send_answer(outlet, id, outcome).await;
            drop(place);
        });
    }

    fn find(&self, id: &RequestId) -> Option<Arc<Inbox>> {
        match &*self.lines() {
            Lines::Open(pending) => pending.get(id).map(|waiting| waiting.inbox.clone()),
            Lines::Lost(_) => None,
        }
    }

    fn take(&self, id: &RequestId) -> Option<Arc<Inbox>> {
        match &mut *self.lines() {
            Lines::Open(pending) => pending.remove(id).map(|waiting| waiting.inbox),
            Lines::Lost(_) => None,
        }
    }

    fn count_stray(&self, is_stray: bool) {
        self.stray.fetch_add(u64::from(is_stray), Ordering::Relaxed);
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn questions(&self) -> MutexGuard<'_, HashMap<RequestId, AbortHandle>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whom a notification is meant for.
enum Owner {
    Call(Arc<Inbox>),
    Question(RequestId),
    Everyone,
    Nobody,
}

impl Ticket {
    /// The next arrival.
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

/// The listen call a notification belongs to, in the era that has such calls.
fn subscription_of(params: Option<&Raw>) -> Option<RequestId> {
    let meta = params?.member("_meta")?;
    RequestId::read(meta.member("io.modelcontextprotocol/subscriptionId")?).ok()
}

/// Sends the answer to a question; the peer hears no more of a failure than the fault's public text.
async fn send_answer(outlet: Outlet, id: RequestId, outcome: Outcome) {
    let outcome = outcome.map_err(|fault| answer_error(&fault));
    if let Err(fault) = outlet(Response::new(id, outcome).into()).await {
        tracing::debug!(%fault, "could not deliver an answer");
    }
}

/// A refusal as legacy servers know it: −1 is "the user said no".
fn answer_error(fault: &Fault) -> ErrorObject {
    match fault.kind() {
        FaultKind::Declined => ErrorObject::new(-1, fault.message()),
        _ => fault.to_error(Era::Legacy),
    }
}
