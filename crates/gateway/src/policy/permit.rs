//! Permit: the proof of a policy check. A server can be reached only with one.

use crate::{catalog::Server, upstream::Event};
use futures_util::future::BoxFuture;
use tokio::sync::broadcast;
use trunkline_protocol::{Call, Notify, Reply};

/// A passed policy check. Only a [`Policy`](super::Policy) creates one, and a server can be called
/// only with one.
#[derive(Debug, Clone, Copy)]
pub struct Permit<'a> {
    server: &'a Server,
}

/// Needed to get the source of a [`Server`]. Only this file can create one.
pub(crate) struct Key(());

impl<'a> Permit<'a> {
    /// Called only by the policy.
    pub(super) fn new(server: &'a Server) -> Self {
        Self { server }
    }

    pub fn server(&self) -> &'a Server {
        self.server
    }

    /// Calls the server. Names and URIs in the call must be the server's own.
    pub(crate) fn call(self, mut call: Call) -> Reply {
        call.view = None;
        self.server.source(&Key(())).call(call)
    }

    /// Learns if the server offers more to the client of this call; see `Source::prepare`.
    pub(crate) fn prepare(self, call: &Call) -> Option<BoxFuture<'static, ()>> {
        self.server.source(&Key(())).prepare(call)
    }

    /// Notifications of the server that belong to no call.
    pub(crate) fn events(self) -> broadcast::Receiver<Event> {
        self.server.source(&Key(())).events()
    }

    pub(crate) fn notify(self, notice: Notify) {
        self.server.source(&Key(())).notify(notice);
    }
}
