//! Toolbox: tools, resources and prompts, and the answers to calls about them.

mod builder;
mod call;
mod catalog;
mod conversation;
mod results;
mod run;
mod trial;

use crate::context::{Request, Slots};
use catalog::Catalog;
use conversation::Conversation;
use std::sync::{Arc, PoisonError, RwLock};
use trunkline_protocol::{
    Call, Fault, FaultKind, Handler, Notify, Outcome, Raw, Reply, Revision,
    message::{DiscoverResult, Implementation, ListCapability, ServerCapabilities, meta},
    method,
};

pub use builder::{BuildError, ToolboxBuilder};
pub use trial::{Run, Trial};

/// A server's worth of tools. It is a [`Handler`], so it can be served, called in process, or joined with others.
#[derive(Debug, Clone)]
pub struct Toolbox {
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    info: Implementation,
    instructions: Option<String>,
    catalog: RwLock<Arc<Catalog>>,
    slots: Arc<Slots>,
    results: results::Results,
}

impl Toolbox {
    /// Starts a toolbox with the name and version it tells its callers.
    #[expect(clippy::new_ret_no_self, reason = "a toolbox is checked as a whole before it exists")]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> ToolboxBuilder {
        ToolboxBuilder::new(name.into(), version.into())
    }
}

impl Handler for Toolbox {
    fn call(&self, call: Call) -> Reply {
        let inner = Arc::clone(&self.inner);
        Reply::new(Conversation::new(move |outbox| async move { inner.answer(call, outbox).await }))
    }

    fn notify(&self, _notice: Notify) {}
}

impl Inner {
    async fn answer(self: Arc<Self>, call: Call, outbox: Arc<crate::context::Outbox>) -> Outcome {
        let request = Request::read(&call)?;
        match call.method.as_ref() {
            method::DISCOVER => Ok(self.discover()),
            method::TOOLS_LIST => self.list_tools(&request),
            method::TOOLS_CALL => self.call_tool(request, call.params.as_ref(), outbox).await,
            other => Err(Fault::new(FaultKind::NotAvailable, format!("there is no method `{other}`"))),
        }
    }

    fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn list_tools(&self, request: &Request) -> Outcome {
        let catalog = self.catalog();
        let offers = catalog.tools.after(None).filter(|(_, o)| o.tool.permissions.allow(&request.caller));
        let tools: Vec<Raw> = offers.map(|(_, o)| o.listing.clone()).collect();
        Ok(trunkline_protocol::message::ListToolsResult::new(tools).to_raw())
    }

    fn discover(&self) -> Raw {
        let listed = ListCapability { list_changed: Some(true), ..ListCapability::default() };
        let capabilities = ServerCapabilities {
            tools: Some(listed.clone()),
            logging: Some(Raw::empty_object()),
            ..ServerCapabilities::default()
        };
        let versions: Vec<String> = Revision::ALL.iter().rev().map(ToString::to_string).collect();
        let mut result = DiscoverResult::new(versions, capabilities);
        result.instructions.clone_from(&self.instructions);
        meta::set(Some(&result.to_raw()), [(meta::SERVER_INFO, self.info.to_raw())])
            .expect("a result is an object, and so is its `_meta`")
    }
}

/// The parameters of a call, or the fault that says what is wrong with them.
fn read_params<T: serde::de::DeserializeOwned>(params: Option<&Raw>) -> Result<T, Fault> {
    let params = params.cloned().unwrap_or_else(Raw::empty_object);
    params
        .decode()
        .map_err(|e| Fault::new(FaultKind::InvalidRequest, format!("the parameters cannot be read: {e}")))
}
