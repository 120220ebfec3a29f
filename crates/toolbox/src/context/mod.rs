//! Context: what a running call knows of its caller, and how it speaks to them.

mod ask;
mod cancel;
mod clock;
mod metas;
mod outbox;
mod request;
mod seat;
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
pub(crate) use cancel::Cancel;
pub(crate) use clock::Clock;
pub(crate) use metas::Metas;
pub(crate) use outbox::{Item, Outbox};
pub(crate) use request::Request;
pub(crate) use seat::Seat;
pub(crate) use slots::{LineFull, Slots, Ticket};

/// One running call. Cloning is cheap, and a clone can be handed to work beside the call; when the call is over, what a
/// clone says is not heard any more.
#[derive(Clone)]
pub struct Context {
    pub(crate) shared: Arc<Shared>,
    /// What to call the next question.
    key: Option<Arc<str>>,
}

pub(crate) struct Shared {
    /// What runs: the name of the tool, the prompt or the resource.
    pub(crate) subject: Arc<str>,
    pub(crate) request: Request,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) clock: Clock,
    pub(crate) seat: Seat,
    pub(crate) cancel: Cancel,
    pub(crate) answer_time: Duration,
    /// The deadline once the call runs as a task; none when it cannot.
    pub(crate) task_deadline: Option<Duration>,
    pub(crate) progress: std::sync::Mutex<speak::Told>,
    pub(crate) handle: Handle,
}

impl Context {
    pub(crate) fn new(shared: Shared) -> Self {
        Self { shared: Arc::new(shared), key: None }
    }

    /// A context that nobody shares yet, whose call may become a task.
    pub(crate) fn able_to_become_task(mut self, deadline: Duration) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.task_deadline = Some(deadline);
        }
        self
    }

    /// The toolbox that this call belongs to, to change it.
    pub fn toolbox(&self) -> &Handle {
        &self.shared.handle
    }

    /// Who asks, as far as it was verified.
    pub fn caller(&self) -> &Caller {
        &self.shared.request.caller
    }

    /// Who the client says it is. Never a ground for a decision.
    pub fn client(&self) -> Option<&Implementation> {
        self.shared.request.meta.client_info.as_ref()
    }

    /// What the client declared that it can do.
    pub fn client_capabilities(&self) -> Option<&ClientCapabilities> {
        self.shared.request.meta.client_capabilities.as_ref()
    }

    /// The revision that the answer has the shape of.
    pub fn revision(&self) -> Revision {
        self.shared.request.revision
    }

    /// One key of the request's `_meta` that the protocol gives no meaning.
    pub fn meta(&self, key: &str) -> Option<trunkline_protocol::Raw> {
        self.shared.request.meta.rest.get(key).cloned()
    }

    /// Answers that came with the request itself, by the keys of their questions.
    pub fn input_responses(&self) -> Option<&Object> {
        self.shared.request.input_responses.as_ref()
    }

    /// The state that the request brought back, for tools that answer `InputRequired` themselves. It is not to be trusted.
    pub fn request_state(&self) -> Option<&str> {
        self.shared.request.state.as_deref()
    }

    /// When the call will be given up, as things stand.
    pub fn deadline(&self) -> Instant {
        self.shared.clock.ends().instant()
    }

    /// Waits until the call is over. The tool's own future is simply dropped then; this is for work beside it.
    pub async fn cancelled(&self) {
        self.shared.cancel.cancelled().await;
    }

    pub fn is_cancelled(&self) -> bool {
        self.shared.cancel.is_cancelled()
    }

    /// Goes on in the background, where the caller can follow a task: the caller gets the task at once, and its result when
    /// the tool is done. Says whether it is so; elsewhere nothing changes.
    pub async fn become_task(&self) -> bool {
        let Some(deadline) = self.shared.task_deadline.filter(|_| self.follows_tasks()) else { return false };
        self.shared.outbox.push(Item::BecomeTask);
        self.shared.clock.restart(deadline);
        // The conversation moves while this call does not run.
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
