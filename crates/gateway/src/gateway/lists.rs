//! The four lists. A list is made once for each snapshot, view and standing; asking for it again costs a reference.

use super::{Inner, faults};
use crate::{
    catalog::{Catalog, Server},
    upstream::Kind,
    view::View,
};
use std::sync::{Arc, PoisonError};
use tokio::time::Instant;
use trunkline_protocol::{Call, Outcome, Reply};

impl Inner {
    pub(super) fn list(
        self: &Arc<Self>,
        catalog: &Catalog,
        view: &Arc<View>,
        call: Call,
        kind: Kind,
    ) -> Reply {
        if view.servers.iter().all(|server| server.offer().is_some()) {
            return Reply::ready(self.page(catalog, view, &call, kind));
        }
        let inner = Arc::clone(self);
        Reply::from_future(async move {
            let catalog = inner.settle(&call).await;
            match catalog.view(call.view.as_deref()) {
                Some(view) => inner.page(&catalog, view, &call, kind),
                None => Err(faults::no_view(call.view.as_deref())),
            }
        })
    }

    /// Says that the lists are wanted, and waits for servers that have just been started. One that stays silent delays those who
    /// ask first, and nobody after that.
    async fn settle(&self, call: &Call) -> Arc<Catalog> {
        let catalog = self.now.load_full();
        let servers = catalog.view(call.view.as_deref()).map(|view| view.servers.as_slice());
        let unheard = servers.unwrap_or_default().iter().filter(|server| server.offer().is_none());
        let mut until = Instant::now();
        for server in unheard {
            server.wake();
            let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
            let since = *wanted.entry(server.name().clone()).or_insert_with(Instant::now);
            until = until.max(since + self.options.settle);
        }
        if Instant::now() >= until {
            return catalog;
        }
        self.wait(call, until, |servers| servers.iter().all(|server| server.offer().is_some())).await;
        self.now.load_full()
    }

    fn page(&self, catalog: &Catalog, view: &View, call: &Call, kind: Kind) -> Outcome {
        let listing = view.listing(kind, &catalog.policy, &call.caller, &self.lists);
        let cursor = call
            .params
            .as_ref()
            .and_then(|params| params.member("cursor"))
            .filter(|cursor| !cursor.is_null());
        let Some(cursor) = cursor else { return Ok(listing.first()) };
        let page = cursor.text().and_then(|cursor| listing.page(&self.lists.cursors, &cursor));
        page.ok_or_else(faults::bad_cursor)
    }
}

impl View {
    /// The server, where this is one alone that was never heard.
    pub(super) fn unheard(&self) -> Option<&Arc<Server>> {
        self.servers.first().filter(|server| self.transparent && server.offer().is_none())
    }
}
