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
    sync::{Semaphore, broadcast},
    task::AbortHandle,
};
use trunkline_protocol::{
    Envelope, Era, ErrorObject, Fault, FaultKind, Malformed, Notification, Outcome, Raw, Request, RequestId,
    Response, method,
};

/// Questions of a server that may be open at once; further ones are refused.
const MAX_QUESTIONS: usize = 32;
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
    stray: AtomicU64,
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
            stray: AtomicU64::new(0),
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
        let outlet = outlet.clone();
        if request.method == method::PING {
            tokio::spawn(send_answer(outlet, request.id, Ok(Raw::empty_object())));
            return;
        }
        let Ok(place) = self.room.clone().try_acquire_owned() else {
            let fault = Fault::new(FaultKind::Overloaded, "too many questions are open");
            tokio::spawn(send_answer(outlet, request.id, Err(fault)));
            return;
        };
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
