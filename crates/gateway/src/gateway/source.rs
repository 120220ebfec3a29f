//! Source: the gateway's interface to a server.

use crate::{
    explain::Link,
    upstream::{Event, Offer, Upstream},
};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::{broadcast, watch};
use trunkline_protocol::{Call, Handler, ServerName};

/// A server behind the gateway. Calls carry the server's own names and URIs.
pub trait Source: Handler {
    fn name(&self) -> &ServerName;

    /// The server's current or last known offer; `None` if it has not connected yet.
    fn offer(&self) -> Option<Arc<Offer>>;

    /// True if there is no connection and the last attempt failed, or the server was stopped.
    fn has_failed(&self) -> bool {
        false
    }

    /// False if the server announced a change of its lists that was not read yet.
    fn is_settled(&self) -> bool {
        true
    }

    /// A counter of changes of the offer.
    fn watch(&self) -> watch::Receiver<u64>;

    /// Notifications of the server that belong to no call.
    fn events(&self) -> broadcast::Receiver<Event>;

    /// Requests the offer: starts a server that is started lazily.
    fn wake(&self);

    /// What a call would meet now, between the policy and the server.
    fn links(&self, _call: &Call) -> Vec<Link> {
        Vec::new()
    }

    /// Opens what is needed to learn if the server offers more to the client of this call, whose
    /// capabilities it may not know yet. The future ends when that is known; it need not be polled.
    /// `None` if the offer is that of the client.
    fn prepare(&self, _call: &Call) -> Option<BoxFuture<'static, ()>> {
        None
    }
}

impl Source for Upstream {
    fn name(&self) -> &ServerName {
        self.name()
    }

    fn offer(&self) -> Option<Arc<Offer>> {
        self.offer()
    }

    fn has_failed(&self) -> bool {
        self.has_failed()
    }

    fn is_settled(&self) -> bool {
        self.is_settled()
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.watch()
    }

    fn events(&self) -> broadcast::Receiver<Event> {
        self.events()
    }

    fn wake(&self) {
        self.wake();
    }

    fn links(&self, call: &Call) -> Vec<Link> {
        self.links(call)
    }

    fn prepare(&self, call: &Call) -> Option<BoxFuture<'static, ()>> {
        self.prepare(call)
    }
}
