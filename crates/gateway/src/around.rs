//! A session with something around its calls.

use crate::upstream::Session;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use trunkline_protocol::{Call, Fault, Handler, Notification, Notify, Raw, Reply, Revision};

/// A session whose calls take the way through `handler`, which ends in the session itself.
pub(crate) struct Around<H> {
    pub(crate) session: Arc<dyn Session>,
    pub(crate) handler: H,
}

impl<H: Handler> Handler for Around<H> {
    fn call(&self, call: Call) -> Reply {
        self.handler.call(call)
    }

    fn notify(&self, notice: Notify) {
        self.handler.notify(notice);
    }

    fn has_view(&self, view: &str) -> bool {
        self.handler.has_view(view)
    }
}

impl<H: Handler> Session for Around<H> {
    fn introduction(&self) -> Raw {
        self.session.introduction()
    }

    fn revision(&self) -> Revision {
        self.session.revision()
    }

    fn on_event(&self, hear: Box<dyn Fn(Notification) + Send + Sync>) {
        self.session.on_event(hear);
    }

    fn lost(&self) -> BoxFuture<'static, Fault> {
        self.session.lost()
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        self.session.close()
    }
}
