//! The four lists. A list is rendered once for each snapshot, view and standing, then shared.

use super::{Inner, faults};
use crate::{
    catalog::{Catalog, Server},
    upstream::Kind,
    view::View,
};
use std::sync::Arc;
use trunkline_protocol::{Call, Fault, Outcome, Reply};
use trunkline_resilience::Moment;

impl Inner {
    pub(super) fn list(
        self: &Arc<Self>,
        catalog: &Catalog,
        view: &Arc<View>,
        call: Call,
        kind: Kind,
    ) -> Reply {
        // Lists of an earlier run are served at once, but must not be served for ever.
        view.servers.iter().filter(|server| server.is_stale()).for_each(|server| server.wake());
        if !view.awaits_servers() {
            return Reply::ready(self.page(catalog, view, &call, kind));
        }
        let inner = Arc::clone(self);
        Reply::from_future(async move {
            let catalog = inner.wait_for_servers(&call, |_, _, _| false).await;
            match catalog.view(call.view.as_deref()) {
                Some(view) => inner.page(&catalog, view, &call, kind),
                None => Err(faults::no_view(call.view.as_deref())),
            }
        })
    }

    /// Wakes all servers that have not connected yet and waits for them, or until `enough` is
    /// true. The time limit counts from the first request for a server, so a silent one delays
    /// only the first callers.
    pub(super) async fn wait_for_servers(
        &self,
        call: &Call,
        enough: impl Fn(&Catalog, &View, &Call) -> bool,
    ) -> Arc<Catalog> {
        let catalog = self.now.load_full();
        let servers = catalog.view(call.view.as_deref()).map(|view| view.servers.as_slice());
        let unconnected = servers.unwrap_or_default().iter().filter(|server| server.offer().is_none());
        let mut latest = None;
        for server in unconnected {
            server.wake();
            let mut wanted = self.wanted.lock();
            let since = *wanted.entry(server.name().clone()).or_insert_with(Moment::now);
            latest = latest.max(Some(since));
        }
        let Some(since) = latest else { return catalog };
        let complete = |catalog: &Catalog, view: &View| !view.awaits_servers() || enough(catalog, view, call);
        if self.wait(call, since + self.options.grace, complete).await {
            return self.now.load_full();
        }
        // If any server is connected, its items are shown now. If none is, wait longer: there is
        // nothing to show.
        let something = |_: &Catalog, view: &View| view.servers.iter().any(|server| server.offer().is_some());
        self.wait(call, since + self.options.settle, something).await;
        self.now.load_full()
    }

    fn page(&self, catalog: &Catalog, view: &View, call: &Call, kind: Kind) -> Outcome {
        if let Some(fault) = view.own_fault(kind) {
            return Err(fault);
        }
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
    /// The error of a server that is shown unchanged and has never given this list. An empty list
    /// in its place would hide the failure.
    fn own_fault(&self, kind: Kind) -> Option<Fault> {
        let offer = self.servers.first().filter(|_| self.transparent)?.offer()?;
        offer.faults[kind as usize].clone()
    }

    /// True if some of its servers have not connected yet.
    pub(super) fn awaits_servers(&self) -> bool {
        self.servers.iter().any(|server| server.offer().is_none())
    }

    /// The server of a view of one server, if it has not connected yet.
    pub(super) fn unconnected(&self) -> Option<&Arc<Server>> {
        self.servers.first().filter(|server| self.transparent && server.offer().is_none())
    }
}
