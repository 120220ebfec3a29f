//! Switchboard: every message that a server sends goes to the call, the host or the listener it is meant for.

use crate::{
    host::{Asked, Host},
    inbox::{Arrival, Inbox, Loss, LossKind},
};
use futures_util::future::BoxFuture;
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, broadcast, watch},
    task::AbortHandle,
};
use trunkline_protocol::{
    Envelope, Era, ErrorObject, Fault, FaultKind, Malformed, Notification, Outcome, Raw, Request, RequestId,
    Response, method,
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
    events: broadcast::Sender<Notification>,
    host: Arc<dyn Host>,
    questions: Mutex<HashMap<RequestId, AbortHandle>>,
    room: Arc<Semaphore>,
    answers: Arc<Semaphore>,
    stray: AtomicU64,
    noise: AtomicU64,
    lost: watch::Sender<Option<Fault>>,
}

/// The calls that wait, until the line is lost for good.
enum Lines {
    Open(HashMap<RequestId, Arc<Inbox>>),
    Lost(Loss),
}

/// A place for one call's messages; leaving it, the call is forgotten.
pub(crate) struct Ticket {
    board: Arc<Switchboard>,
    pub(crate) id: RequestId,
    pub(crate) inbox: Arc<Inbox>,
}

impl Switchboard {
    pub(crate) fn new(host: Arc<dyn Host>) -> Arc<Self> {
        Arc::new(Self {
            lines: Mutex::new(Lines::Open(HashMap::new())),
            events: broadcast::Sender::new(EVENT_QUEUE),
            host,
            questions: Mutex::default(),
            room: Arc::new(Semaphore::new(MAX_QUESTIONS)),
            answers: Arc::new(Semaphore::new(MAX_ANSWERS)),
            stray: AtomicU64::new(0),
            noise: AtomicU64::new(0),
            lost: watch::Sender::new(None),
        })
    }

    /// Makes room for the messages of a call.
    pub(crate) fn expect(self: &Arc<Self>, id: RequestId) -> Ticket {
        let inbox = Arc::new(Inbox::default());
        match &mut *self.lines() {
            Lines::Open(pending) => drop(pending.insert(id.clone(), inbox.clone())),
            Lines::Lost(loss) => inbox.push(Arrival::Lost(loss.clone())),
        }
        Ticket { board: self.clone(), id, inbox }
    }

    /// Notifications that belong to no call.
    pub(crate) fn events(&self) -> broadcast::Receiver<Notification> {
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
        for inbox in pending.into_values() {
            inbox.push(Arrival::Lost(loss.clone()));
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
        drop(self.events.send(notification));
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
            _ => subscription_of(params)
                .map_or(Owner::Everyone, |id| self.find(&id).map_or(Owner::Nobody, Owner::Call)),
        }
    }

    fn ask(self: &Arc<Self>, request: Request, outlet: &Outlet) {
        if request.method == method::PING {
            return self.reply(outlet, request.id, Ok(Raw::empty_object()));
        }
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
    pub(crate) fn room_for_question(&self) -> Option<OwnedSemaphorePermit> {
        self.room.clone().try_acquire_owned().ok()
    }

    /// Tells the server that it asks too much.
    pub(crate) fn refuse(&self, outlet: &Outlet, id: RequestId) {
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
            Lines::Open(pending) => pending.get(id).cloned(),
            Lines::Lost(_) => None,
        }
    }

    fn take(&self, id: &RequestId) -> Option<Arc<Inbox>> {
        match &mut *self.lines() {
            Lines::Open(pending) => pending.remove(id),
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

impl Drop for Ticket {
    fn drop(&mut self) {
        drop(self.board.take(&self.id));
    }
}

/// The listen call a notification belongs to, in the era that has such calls.
fn subscription_of(params: Option<&Raw>) -> Option<RequestId> {
    let meta = params?.member("_meta")?;
    RequestId::read(meta.member("io.modelcontextprotocol/subscriptionId")?).ok()
}

/// Sends the answer to a question; the peer hears no more of a failure than the fault's public text.
pub(crate) async fn send_answer(outlet: Outlet, id: RequestId, outcome: Outcome) {
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
