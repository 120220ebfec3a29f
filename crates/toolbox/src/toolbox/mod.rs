//! Toolbox: tools, resources and prompts, and the methods that serve them.

mod builder;
mod call;
mod catalog;
mod conversation;
mod cursor;
mod discover;
mod handle;
mod listen;
mod listeners;
mod lists;
mod name_table;
mod read;
mod results;
mod run;
mod tasks;
mod trial;

use crate::context::{Metas, Outbox, Request, Slots};
use builder::Options;
use catalog::Catalog;
use conversation::Conversation;
use cursor::Cursors;
use listeners::Listeners;
use parking_lot::RwLock;
use results::Results;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use tasks::Tasks;
use trunkline_protocol::{
    Call, Fault, FaultKind, Handler, Notify, Object, Outcome, Raw, Reply, message::Implementation, method,
};

pub use builder::{BuildError, ToolboxBuilder};
pub use handle::Handle;
pub use trial::{Asked, Run, Trial};

/// The tools, resources and prompts of one server. It is a [`Handler`], so it can be served,
/// called in process, or combined with others.
#[derive(Debug, Clone)]
pub struct Toolbox {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    info: Implementation,
    instructions: Option<String>,
    catalog: RwLock<Arc<Catalog>>,
    slots: Arc<Slots>,
    metas: Metas,
    results: Results,
    cursors: Cursors,
    listeners: Listeners,
    tasks: Tasks,
    options: Options,
}

impl Toolbox {
    /// Starts to build a toolbox with the name and version reported to clients.
    #[expect(clippy::new_ret_no_self, reason = "a toolbox is checked as a whole before it exists")]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> ToolboxBuilder {
        ToolboxBuilder::new(name.into(), version.into())
    }

    /// A handle to change the toolbox at run time.
    pub fn handle(&self) -> Handle {
        Handle(Arc::clone(&self.inner))
    }

    /// Number of running calls, and of calls that wait for a slot.
    pub fn load(&self) -> (usize, usize) {
        (self.inner.slots.running(), self.inner.slots.waiting())
    }
}

impl Handler for Toolbox {
    fn call(&self, call: Call) -> Reply {
        let (inner, keeper) = (Arc::clone(&self.inner), Arc::clone(&self.inner));
        let caller = Arc::clone(&call.caller);
        let conversation = Conversation::new(|outbox| async move { inner.answer(call, outbox).await });
        Reply::new(conversation.adoptable(move |rest| keeper.adopt(rest, &caller)))
    }

    /// Ignores all notifications: a call is cancelled by dropping its reply, and roots are
    /// requested when they are needed.
    fn notify(&self, _notice: Notify) {}
}

impl Inner {
    async fn answer(self: Arc<Self>, call: Call, outbox: Arc<Outbox>) -> Outcome {
        let members = match call.params.as_ref().map(Raw::object) {
            None => Object::new(),
            Some(Some(members)) => members,
            Some(None) => {
                return Err(Fault::new(FaultKind::InvalidRequest, "the parameters are not an object"));
            }
        };
        let request = Request::read(&call, &members, &self.metas)?;
        let params = call.params.as_ref();
        match call.method.as_ref() {
            method::DISCOVER => Ok(self.discover()),
            method::TOOLS_LIST => self.list_tools(&request, params),
            method::TOOLS_CALL => self.call_tool(request, call::read(members, params)?, outbox).await,
            method::RESOURCES_LIST => self.list_resources(&request, params),
            method::RESOURCES_TEMPLATES => self.list_templates(&request, params),
            method::RESOURCES_READ => self.read_resource(request, params, outbox).await,
            method::PROMPTS_LIST => self.list_prompts(&request, params),
            method::PROMPTS_GET => self.get_prompt(request, params, outbox).await,
            method::COMPLETE => self.complete(request, params, outbox).await,
            method::LISTEN => self.listen(&request, params, &outbox).await,
            method::TASKS_GET => self.get_task(&request, params),
            method::TASKS_UPDATE => self.update_task(&request, params),
            method::TASKS_CANCEL => self.cancel_task(&request, params),
            other => {
                let other: String = other.chars().take(128).collect();
                Err(Fault::new(FaultKind::NotAvailable, format!("there is no method `{other}`")))
            }
        }
    }

    fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.read())
    }
}

/// Decodes the parameters of a call; the fault names the error.
fn read_params<T: DeserializeOwned>(params: Option<&Raw>) -> Result<T, Fault> {
    let params = params.cloned().unwrap_or_else(Raw::empty_object);
    params
        .decode()
        .map_err(|e| Fault::new(FaultKind::InvalidRequest, format!("the parameters cannot be read: {e}")))
}
