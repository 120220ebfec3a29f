//! The four lists. A list is rendered once for each snapshot, view and standing, then shared.

use super::{Inner, faults};
use crate::{
    catalog::{Catalog, Server},
    policy::Policy,
    upstream::Kind,
    view::View,
};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use trunkline_protocol::{Call, Caller, Fault, Outcome, Reply};
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
        let may_use = |server: &&Arc<Server>| catalog.policy.may_use(&call.caller, view, server);
        view.servers.iter().filter(|s| s.is_stale()).filter(may_use).for_each(|server| server.wake());
        // If a server offers more to this client, a change is announced once that is known.
        drop(prepare(catalog, view, &call));
        if !view.awaits_servers(&catalog.policy, &call.caller) {
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

    /// Wakes all servers that the caller may use and that have not connected yet, and waits until
    /// each has connected or failed to, or until `enough` is true. The time limit counts from the
    /// first request for a server, so a silent one delays
    /// only the first callers.
    pub(super) async fn wait_for_servers(
        &self,
        call: &Call,
        enough: impl Fn(&Catalog, &View, &Call) -> bool,
    ) -> Arc<Catalog> {
        let catalog = self.now.load_full();
        let Some(view) = catalog.view(call.view.as_deref()).cloned() else { return catalog };
        let mut latest = None;
        for server in view.unconnected_for(&catalog.policy, &call.caller) {
            server.wake();
            let mut wanted = self.wanted.lock();
            let since = *wanted.entry(server.name().clone()).or_insert_with(Moment::now);
            latest = latest.max(Some(since));
        }
        let Some(since) = latest else { return catalog };
        let complete = |catalog: &Catalog, view: &View| {
            !view.awaits_servers(&catalog.policy, &call.caller) || enough(catalog, view, call)
        };
        if self.wait(call, since + self.shared.options.grace, complete).await {
            return self.now.load_full();
        }
        // If any server is connected, its items are shown now. If none is, wait longer: there is
        // nothing to show.
        let something = |catalog: &Catalog, view: &View| {
            let mut connected = view.servers.iter().filter(|server| server.offer().is_some());
            !view.awaits_servers(&catalog.policy, &call.caller)
                || connected.any(|server| catalog.policy.may_use(&call.caller, view, server))
        };
        self.wait(call, since + self.shared.options.settle, something).await;
        self.now.load_full()
    }

    fn page(&self, catalog: &Catalog, view: &View, call: &Call, kind: Kind) -> Outcome {
        if let Some(fault) = view.own_fault(kind) {
            return Err(fault);
        }
        let listing = view.listing(kind, &catalog.policy, &catalog.policy.asker(call), &self.shared.lists);
        let cursor = call
            .params
            .as_ref()
            .and_then(|params| params.member("cursor"))
            .filter(|cursor| !cursor.is_null());
        let Some(cursor) = cursor else { return Ok(listing.first()) };
        let page = cursor.text().and_then(|cursor| listing.page(&self.shared.lists.cursors, &cursor));
        page.ok_or_else(faults::bad_cursor)
    }
}

/// Learns what the view's servers offer to the client of this call, as far as that is unknown.
pub(super) fn prepare(catalog: &Catalog, view: &View, call: &Call) -> Vec<BoxFuture<'static, ()>> {
    let permits =
        view.servers.iter().filter_map(|server| catalog.policy.permit_contact(&call.caller, view, server));
    permits.filter_map(|permit| permit.prepare(call)).collect()
}

impl View {
    /// The error of a server that is shown unchanged and has never given this list. An empty list
    /// in its place would hide the failure.
    fn own_fault(&self, kind: Kind) -> Option<Fault> {
        let offer = self.servers.first().filter(|_| self.transparent)?.offer()?;
        offer.faults[kind as usize].clone()
    }

    /// True if some of the servers that the caller may use have neither connected nor failed
    /// to. Others are neither waited for nor started: their start would tell that they exist.
    pub(super) fn awaits_servers(&self, policy: &Policy, caller: &Caller) -> bool {
        self.unconnected_for(policy, caller).next().is_some()
    }

    /// The servers that the caller may use and that have neither connected nor failed to.
    pub(super) fn unconnected_for<'a>(
        &'a self,
        policy: &'a Policy,
        caller: &'a Caller,
    ) -> impl Iterator<Item = &'a Arc<Server>> {
        let unconnected = self.servers.iter().filter(|server| server.is_awaited());
        unconnected.filter(move |server| policy.may_use(caller, self, server))
    }

    /// The server of a view of one server, if it has not connected yet.
    pub(super) fn unconnected(&self) -> Option<&Arc<Server>> {
        self.servers.first().filter(|server| self.transparent && server.offer().is_none())
    }
}
