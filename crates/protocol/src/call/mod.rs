//! Call, Reply, Handler: a question, the stream that answers it, and whoever answers.

mod question;
mod reply;

use crate::{Notification, Raw, Revision};
use std::{
    borrow::Cow,
    sync::{Arc, LazyLock},
    time::Instant,
};

pub use question::Question;
pub use reply::{Outcome, Part, Reply};

/// Anything that answers calls: a connection to a server, a toolbox, a gateway, a fake in a test.
pub trait Handler: Send + Sync {
    /// Starts the call. Nothing may happen before the reply is first polled; dropping the reply cancels the call.
    fn call(&self, call: Call) -> Reply;

    /// Hands over a notification of the caller; there is no answer.
    fn notify(&self, notice: Notify);

    /// Whether calls may name this view, a part of what is offered. Most handlers have none.
    fn has_view(&self, _view: &str) -> bool {
        false
    }
}

impl<H: Handler + ?Sized> Handler for Arc<H> {
    fn call(&self, call: Call) -> Reply {
        (**self).call(call)
    }

    fn notify(&self, notice: Notify) {
        (**self).notify(notice);
    }

    fn has_view(&self, view: &str) -> bool {
        (**self).has_view(view)
    }
}

/// One request on its way to a handler. It has no id: ids belong to a hop, and a [`Reply`] is its own correlation.
#[derive(Debug, Clone)]
pub struct Call {
    pub method: Cow<'static, str>,
    pub params: Option<Raw>,
    /// The revision whose shape `params` has and the reply should have.
    pub revision: Revision,
    pub caller: Arc<Caller>,
    /// When the caller stops waiting.
    pub deadline: Option<Instant>,
    /// The view that the caller came to; `None` for all that is offered.
    pub view: Option<Arc<str>>,
}

/// A notification on its way to a handler.
#[derive(Debug, Clone)]
pub struct Notify {
    pub notification: Notification,
    pub caller: Arc<Caller>,
}

/// Who asks, as far as it was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub id: String,
    /// Roles given by the configuration.
    pub roles: Vec<String>,
    /// Scopes that the caller's token carries.
    pub scopes: Vec<String>,
}

static LOCAL: LazyLock<Arc<Caller>> =
    LazyLock::new(|| Arc::new(Caller { id: "local".to_owned(), roles: Vec::new(), scopes: Vec::new() }));

static OURSELVES: LazyLock<Arc<Caller>> =
    LazyLock::new(|| Arc::new(Caller { id: "trunkline".to_owned(), roles: Vec::new(), scopes: Vec::new() }));

impl Caller {
    /// The person at this machine: whoever runs the process.
    pub fn local() -> Arc<Self> {
        Arc::clone(&LOCAL)
    }

    /// Whether this is that person, and not somebody who is only called so.
    pub fn is_local(caller: &Arc<Self>) -> bool {
        Arc::ptr_eq(caller, &LOCAL)
    }

    /// The caller of what no client asked for: a server that listens to its own handler. No client can be it, whatever it
    /// calls itself.
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
        }
    }
}
