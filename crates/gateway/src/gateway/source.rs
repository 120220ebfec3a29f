//! Source: a server as the gateway sees it, whoever keeps it alive.

use crate::upstream::{Event, Offer, Upstream};
use std::sync::Arc;
use tokio::sync::{broadcast, watch};
use trunkline_protocol::{Handler, ServerName};

/// A server behind the gateway. Calls carry the server's own names and URIs.
pub trait Source: Handler {
    fn name(&self) -> &ServerName;

    /// What the server offers, or offered when it was last heard; `None` when it never was.
    fn offer(&self) -> Option<Arc<Offer>>;

    /// Counts the changes of the offer.
    fn watch(&self) -> watch::Receiver<u64>;

    /// What the server tells that belongs to no call.
    fn events(&self) -> broadcast::Receiver<Event>;

    /// Somebody wants to know what the server offers: one that starts when it is needed is needed now.
    fn wake(&self);
}

impl Source for Upstream {
    fn name(&self) -> &ServerName {
        self.name()
    }

    fn offer(&self) -> Option<Arc<Offer>> {
        self.offer()
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
}
