//! Permit: leave to ask a server. There is no other way to reach one.

use crate::{catalog::Server, upstream::Event};
use tokio::sync::broadcast;
use trunkline_protocol::{Call, Notify, Reply};

/// A check that was passed. Only a [`Policy`](super::Policy) makes one, and only with one can a server be called.
#[derive(Debug, Clone, Copy)]
pub struct Permit<'a> {
    server: &'a Server,
}

/// Opens the way from a [`Server`] to what answers for it. Only this file can make one.
pub(crate) struct Key(());

impl<'a> Permit<'a> {
    /// For the policy alone.
    pub(super) fn new(server: &'a Server) -> Self {
        Self { server }
    }

    pub fn server(&self) -> &'a Server {
        self.server
    }

    /// Asks the server. Names and URIs in the call are the server's own by now.
    pub(crate) fn call(self, mut call: Call) -> Reply {
        call.view = None;
        self.server.source(&Key(())).call(call)
    }

    /// What the server tells that belongs to no call.
    pub(crate) fn events(self) -> broadcast::Receiver<Event> {
        self.server.source(&Key(())).events()
    }

    pub(crate) fn notify(self, notice: Notify) {
        self.server.source(&Key(())).notify(notice);
    }
}
