//! `Call` is a request, `Reply` is the stream of its answer, and `Handler` answers calls.

mod call_record;
mod carried;
mod question;
mod reply;

use crate::{Notification, Raw, Revision};
use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, LazyLock},
    time::Instant,
};

pub use call_record::CallRecord;
pub use carried::Carried;
pub use question::Question;
pub use reply::{Outcome, Part, Reply};

/// Anything that answers calls: a connection to a server, a toolbox, a gateway, a fake in a test.
pub trait Handler: Send + Sync {
    /// Returns the reply of a call. Nothing may be sent before the reply is first polled; checks
    /// and counting may happen at once. Dropping the reply cancels the call.
    fn call(&self, call: Call) -> Reply;

    /// The handler that this one is a layer around. Everything but calls goes there by default.
    fn inner(&self) -> Option<&dyn Handler> {
        None
    }

    /// Handles a notification from the caller. Notifications have no answer.
    fn notify(&self, notice: Notify) {
        if let Some(inner) = self.inner() {
            inner.notify(notice);
        }
    }

    /// True if calls may name this view. A view is a subset of the tools, resources and prompts;
    /// most handlers have none.
    fn has_view(&self, view: &str) -> bool {
        self.inner().is_some_and(|inner| inner.has_view(view))
    }

    /// True if the caller may use anything of a view that exists.
    fn admits(&self, view: &str, caller: &Caller) -> bool {
        self.inner().is_none_or(|inner| inner.admits(view, caller))
    }
}

impl<H: Handler + ?Sized> Handler for Arc<H> {
    fn call(&self, call: Call) -> Reply {
        (**self).call(call)
    }

    fn inner(&self) -> Option<&dyn Handler> {
        (**self).inner()
    }

    fn notify(&self, notice: Notify) {
        (**self).notify(notice);
    }

    fn has_view(&self, view: &str) -> bool {
        (**self).has_view(view)
    }

    fn admits(&self, view: &str, caller: &Caller) -> bool {
        (**self).admits(view, caller)
    }
}

/// A request to a handler. It has no id: ids are local to one connection, and the [`Reply`]
/// already identifies the call.
#[derive(Debug, Clone)]
pub struct Call {
    pub method: Cow<'static, str>,
    pub params: Option<Raw>,
    /// The revision in whose format `params` is written and the reply is expected.
    pub revision: Revision,
    pub caller: Arc<Caller>,
    /// The time at which the caller stops waiting.
    pub deadline: Option<Instant>,
    /// The view that the caller connected to; `None` if it sees everything.
    pub view: Option<Arc<str>>,
    pub origin: Origin,
    /// Links the call with its records in the audit trail.
    pub record: Option<Arc<CallRecord>>,
    /// The session or connection of the client, if it has one; it is freed when that ends. It is
    /// not the id that the client sends, so knowing it gives no access.
    pub session: Option<Arc<str>>,
}

/// The party that wants the answer to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    #[default]
    Client,
    /// A program that calls over REST. It answers questions itself; no person is behind it.
    Rest,
    /// This process, which needs the answer to serve the caller, such as the caller's list of
    /// tools. It is neither charged to the caller nor recorded.
    Ourselves,
}

/// A notification to a handler.
#[derive(Debug, Clone)]
pub struct Notify {
    pub notification: Notification,
    pub caller: Arc<Caller>,
}

/// The verified identity of a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub id: String,
    /// Roles named by the caller's key or token. The configuration may give it more.
    pub roles: Vec<String>,
    /// Scopes that the caller's token carries.
    pub scopes: Vec<String>,
    /// Claims of the caller's token that policy rules mention.
    pub claims: BTreeMap<String, Vec<String>>,
    /// Parts of its request that servers may need; `None` if the configuration names none.
    pub carried: Option<Arc<Carried>>,
}

static LOCAL: LazyLock<Arc<Caller>> = LazyLock::new(|| Arc::new(Caller::named("local")));

static OURSELVES: LazyLock<Arc<Caller>> = LazyLock::new(|| Arc::new(Caller::named("trunkline")));

impl Caller {
    /// A caller without roles, scopes and claims.
    pub fn named(id: impl Into<String>) -> Self {
        Self { id: id.into(), roles: Vec::new(), scopes: Vec::new(), claims: BTreeMap::new(), carried: None }
    }

    /// The local user, who runs the process.
    pub fn local() -> Arc<Self> {
        Arc::clone(&LOCAL)
    }

    /// True for the local user. Compares the pointer, so a client with the same id is not mistaken
    /// for it.
    pub fn is_local(caller: &Self) -> bool {
        std::ptr::eq(caller, &raw const **LOCAL) || caller.carried.as_ref().is_some_and(|c| c.local)
    }

    /// The caller of requests that the server makes itself, such as a subscription to its own
    /// handler. It is compared by pointer, so no client can impersonate it by choosing the same
    /// id.
    pub fn ourselves() -> Arc<Self> {
        Arc::clone(&OURSELVES)
    }

    pub fn is_ourselves(caller: &Arc<Self>) -> bool {
        Arc::ptr_eq(caller, &OURSELVES)
    }
}

impl Call {
    pub fn new(method: impl Into<Cow<'static, str>>, params: Option<Raw>) -> Self {
        Self {
            method: method.into(),
            params,
            revision: Revision::NEWEST,
            caller: Caller::local(),
            deadline: None,
            view: None,
            origin: Origin::Client,
            record: None,
            session: None,
        }
    }
}
