//! Context: a running call's view of its caller, and its way to send to and ask the client.

mod ask;
mod call_slot;
mod cancel;
mod clock;
mod metas;
mod outbox;
mod request;
mod slots;
mod speak;

use crate::Handle;
use std::{fmt, sync::Arc, time::Duration};
use tokio::time::Instant;
use trunkline_protocol::{
    Caller, Object, Revision,
    message::{ClientCapabilities, Implementation, TASKS_EXTENSION},
};

pub use ask::Elicited;
pub(crate) use call_slot::CallSlot;
pub(crate) use cancel::Cancel;
pub(crate) use clock::Clock;
pub(crate) use metas::Metas;
pub(crate) use outbox::{Item, Outbox};
pub(crate) use request::Request;
pub(crate) use slots::{QueueFull, Slots, Ticket};

/// One running call. Cloning is cheap, and a clone can be moved into background work. Messages
/// that a clone sends after the call has ended are dropped.
#[derive(Clone)]
pub struct Context {
    pub(crate) shared: Arc<Shared>,
    /// Key of the next question.
    key: Option<Arc<str>>,
}

pub(crate) struct Shared {
    /// Name of the tool, prompt or resource that runs.
    pub(crate) subject: Arc<str>,
    pub(crate) request: Request,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) clock: Clock,
    pub(crate) slot: CallSlot,
    pub(crate) cancel: Cancel,
    pub(crate) answer_time: Duration,
    /// Time limit once the call runs as a task; `None` if it cannot become one.
    pub(crate) task_deadline: Option<Duration>,
    pub(crate) progress: parking_lot::Mutex<speak::LastProgress>,
    pub(crate) handle: Handle,
}

impl Context {
    pub(crate) fn new(shared: Shared) -> Self {
        Self { shared: Arc::new(shared), key: None }
    }

    /// Lets the call become a task. Must be called before the context is cloned.
    pub(crate) fn able_to_become_task(mut self, deadline: Duration) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.task_deadline = Some(deadline);
        }
        self
    }

    /// A handle to change the toolbox that this call belongs to.
    pub fn toolbox(&self) -> &Handle {
        &self.shared.handle
    }

    /// The authenticated caller.
    pub fn caller(&self) -> &Caller {
        &self.shared.request.caller
    }

    /// The client's own, unverified name and version. Base no decision on it.
    pub fn client(&self) -> Option<&Implementation> {
        self.shared.request.meta.client_info.as_ref()
    }

    /// The capabilities that the client declared.
    pub fn client_capabilities(&self) -> Option<&ClientCapabilities> {
        self.shared.request.meta.client_capabilities.as_ref()
    }

    /// The protocol revision in which the answer is encoded.
    pub fn revision(&self) -> Revision {
        self.shared.request.revision
    }

    /// The value of a key in the request's `_meta` that the protocol does not define.
    pub fn meta(&self, key: &str) -> Option<trunkline_protocol::Raw> {
        self.shared.request.meta.rest.get(key).cloned()
    }

    /// Answers that the request itself contains, by the keys of their questions.
    pub fn input_responses(&self) -> Option<&Object> {
        self.shared.request.input_responses.as_ref()
    }

    /// The request's `requestState`, for tools that answer `InputRequired` themselves. The client
    /// can have changed it, so do not trust it.
    pub fn request_state(&self) -> Option<&str> {
        self.shared.request.state.as_deref()
    }

    /// The call's current deadline; questions to the client extend it.
    pub fn deadline(&self) -> Instant {
        self.shared.clock.ends().instant()
    }

    /// Waits until the call is over. This is for background work: the tool's own future is dropped
    /// when the call ends.
    pub async fn cancelled(&self) {
        self.shared.cancel.cancelled().await;
    }

    pub fn is_cancelled(&self) -> bool {
        self.shared.cancel.is_cancelled()
    }

    /// Continues the call as a task if the caller supports tasks: the caller receives the task at
    /// once, and its result when the tool is done. Returns false, and changes nothing, if the call
    /// cannot become a task.
    pub async fn become_task(&self) -> bool {
        let Some(deadline) = self.shared.task_deadline.filter(|_| self.follows_tasks()) else { return false };
        self.shared.outbox.push(Item::BecomeTask);
        self.shared.clock.restart(deadline);
        // The stream is handed over while this future is not being polled.
        tokio::task::yield_now().await;
        true
    }

    pub(crate) fn follows_tasks(&self) -> bool {
        self.shared.request.declares_extension(TASKS_EXTENSION)
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("subject", &self.shared.subject)
            .field("caller", &self.shared.request.caller.id)
            .finish_non_exhaustive()
    }
}
