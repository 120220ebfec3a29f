//! Keeper: a task that rebuilds the catalog when an offer changes or servers are replaced.

use super::{Inner, faults};
use crate::{
    catalog::{Catalog, Server},
    view::View,
};
use futures_util::future::{self, FutureExt};
use std::{pin::pin, sync::Arc, sync::Weak, time::Duration};
use tokio::{sync::watch, time};
use trunkline_protocol::{Call, Fault, method};
use trunkline_resilience::{Deadline, Moment, timeout_at};

/// Starts the task, which runs until the gateway is dropped.
pub(super) fn start(inner: &Arc<Inner>) {
    let replaced = Arc::clone(&inner.replaced);
    let quiet = inner.shared.options.quiet;
    tokio::spawn(keep(Arc::downgrade(inner), replaced, quiet));
}

async fn keep(gateway: Weak<Inner>, replaced: Arc<tokio::sync::Notify>, quiet: Duration) {
    loop {
        let Some(inner) = gateway.upgrade() else { return };
        let mut offers: Vec<watch::Receiver<u64>> =
            inner.builder().plan().sources().iter().map(|source| source.watch()).collect();
        drop(inner);
        // Changes before `watch` are found by this rebuild.
        rebuild_if_alive(&gateway).await;
        loop {
            tokio::select! {
                () = replaced.notified() => break,
                () = any_change(&mut offers) => {}
            }
            rest(&gateway, quiet).await;
            for offer in &mut offers {
                offer.mark_unchanged();
            }
            if gateway.strong_count() == 0 {
                return;
            }
            rebuild_if_alive(&gateway).await;
        }
    }
}

/// Waits so that a burst of changes becomes one snapshot; returns at once if a call waits for an
/// offer.
async fn rest(gateway: &Weak<Inner>, quiet: Duration) {
    let Some(mut waiting) = gateway.upgrade().map(|inner| inner.waiting.subscribe()) else { return };
    tokio::select! {
        () = time::sleep(quiet) => {}
        // An error means that the gateway was dropped; the loop in `keep` checks that.
        _ = waiting.wait_for(|calls| *calls > 0) => {}
    }
}

async fn any_change(offers: &mut Vec<watch::Receiver<u64>>) {
    while !offers.is_empty() {
        let (seen, place, rest) =
            future::select_all(offers.iter_mut().map(|offer| offer.changed().boxed())).await;
        drop(rest);
        if seen.is_ok() {
            return;
        }
        // The sender was dropped with its server, so no change will follow.
        offers.swap_remove(place);
    }
    future::pending::<()>().await;
}

async fn rebuild_if_alive(gateway: &Weak<Inner>) {
    if let Some(inner) = gateway.upgrade() {
        rebuild(&inner).await;
    }
}

/// Makes a snapshot of the current offers.
pub(super) async fn rebuild(inner: &Arc<Inner>) {
    let inner = Arc::clone(inner);
    let work = tokio::task::spawn_blocking(move || {
        let mut builder = inner.builder();
        let catalog = builder.build();
        inner.swap(catalog);
    });
    if let Err(error) = work.await {
        tracing::error!(%error, "the catalog could not be rebuilt");
    }
}

impl Inner {
    /// Waits until the server's offer is known, at most `patience`. Calls `server/discover` first,
    /// because its error says why the server cannot be reached.
    pub(super) async fn wait_for_offer(&self, server: &Arc<Server>, call: &Call) -> Result<(), Fault> {
        let until = Moment::now() + self.shared.options.patience;
        server.wake();
        let catalog = self.now.load_full();
        if let Some(permit) = catalog.policy.permit_to(&call.caller, server, method::DISCOVER) {
            let mut ask = Call::new(method::DISCOVER, call.params.as_ref().and_then(only_meta));
            ask.caller = Arc::clone(&call.caller);
            let answer = timeout_at(until, permit.call(ask).outcome()).await;
            answer.ok_or_else(|| faults::unconnected(server))??;
        }
        let is_connected = |other: &Arc<Server>| other.name() != server.name() || other.offer().is_some();
        let connected = self.wait(call, until, |_, view| view.servers.iter().all(is_connected));
        if connected.await { Ok(()) } else { Err(faults::unconnected(server)) }
    }

    /// Waits until `wanted` is true for the call's view; returns false at the deadline.
    pub(super) async fn wait(
        &self,
        call: &Call,
        until: Moment,
        wanted: impl Fn(&Catalog, &View) -> bool,
    ) -> bool {
        let mut rebuilt = self.rebuilt.subscribe();
        let _waiting = Waiting::begin(&self.waiting);
        let mut patience = pin!(Deadline::at(until));
        loop {
            rebuilt.mark_unchanged();
            let there = |catalog: &Catalog| {
                catalog.view(call.view.as_deref()).is_none_or(|view| wanted(catalog, view))
            };
            if there(&self.now.load()) {
                return true;
            }
            tokio::select! {
                biased;
                rebuilt = rebuilt.changed() => if rebuilt.is_err() { return false },
                () = &mut patience => return false,
            }
        }
    }
}

/// Counts a call that waits for another snapshot, until it is dropped.
struct Waiting<'a>(&'a watch::Sender<usize>);

impl<'a> Waiting<'a> {
    fn begin(calls: &'a watch::Sender<usize>) -> Self {
        calls.send_modify(|calls| *calls += 1);
        Self(calls)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|calls| *calls -= 1);
    }
}

/// Only `_meta` of `params`: the identity and capabilities of the client.
fn only_meta(params: &trunkline_protocol::Raw) -> Option<trunkline_protocol::Raw> {
    let meta = params.member("_meta")?;
    trunkline_protocol::Raw::empty_object().with("_meta", &meta)
}
