//! Source: the gateway's interface to a server.

use crate::{
    explain::Link,
    upstream::{Event, Identity, Offer, Upstream},
};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::{broadcast, watch};
use trunkline_protocol::{Call, Caller, Handler, ServerName};

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

    /// The decisions that a call would meet now, between the policy and the server.
    fn links(&self, _call: &Call) -> Vec<Link> {
        Vec::new()
    }

    /// Opens what is needed to learn if the server offers more to the client of this call, whose
    /// capabilities it may not know yet. The future ends when that is known; it need not be polled.
    /// `None` if the offer is that of the client.
    fn prepare(&self, _call: &Call) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// Everything about a caller that decides what the server answers to it; `None` if all callers
    /// see the same server.
    fn identity(&self, _caller: &Caller) -> Option<Identity> {
        None
    }

    /// The server as a caller with an identity sees it.
    fn as_seen_by(&self, _caller: &Caller) -> Option<Arc<dyn Source>> {
        None
    }

    /// True if callers see this server with identities of their own, so its lists are private.
    fn is_personal(&self) -> bool {
        false
    }

    /// The tool that signs the caller in, while the server is known only by that.
    fn sign_in_tool(&self) -> Option<&'static str> {
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

    fn identity(&self, caller: &Caller) -> Option<Identity> {
        self.identity(caller)
    }

    fn as_seen_by(&self, caller: &Caller) -> Option<Arc<dyn Source>> {
        self.as_seen_by(caller).map(|own| own as Arc<dyn Source>)
    }

    fn is_personal(&self) -> bool {
        self.is_personal()
    }

    fn sign_in_tool(&self) -> Option<&'static str> {
        self.sign_in_tool()
    }
}
