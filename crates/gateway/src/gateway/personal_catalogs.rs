//! Catalogs of single identities. If a server shows each caller something else, no snapshot can be
//! right for all of them, so each identity gets its own. It shares with the common one everything
//! that comes from other servers.

use super::{Gateway, Inner, Shared, faults, keeper};
use crate::{catalog::Plan, gateway::Source, upstream::Identity};
use arc_swap::ArcSwap;
use futures_util::StreamExt;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};
use trunkline_protocol::{Call, Caller, Fault, Notify, Reply};
use trunkline_resilience::Moment;

/// Most catalogs of one principal, whose requests may carry many values of a header.
const PER_PRINCIPAL: usize = 16;
/// Interval of the search for unused catalogs.
const TIDY_EVERY: Duration = Duration::from_mins(1);

/// The limits of the catalogs of single identities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonalOptions {
    /// Most of them.
    pub most: usize,
    /// How long one is kept without calls.
    pub idle: Duration,
}

impl Default for PersonalOptions {
    fn default() -> Self {
        Self { most: 256, idle: Duration::from_mins(15) }
    }
}

/// The catalogs in use.
pub(super) struct PersonalCatalogs {
    /// The servers that differ by caller.
    servers: ArcSwap<Vec<Arc<dyn Source>>>,
    known: Mutex<HashMap<Vec<Identity>, PersonalCatalog>>,
    options: PersonalOptions,
}

struct PersonalCatalog {
    inner: Arc<Inner>,
    /// The caller that it was made for.
    caller: Arc<Caller>,
    used: Moment,
}

impl PersonalCatalogs {
    pub(super) fn new(servers: &[Arc<dyn Source>], options: PersonalOptions) -> Arc<Self> {
        let servers = ArcSwap::from_pointee(personal(servers));
        Arc::new(Self { servers, known: Mutex::default(), options })
    }

    /// Applies new rules and servers to all catalogs.
    pub(super) fn replace(&self, plan: &Plan) {
        let servers = personal(plan.sources());
        let mut known = self.known.lock();
        let before = std::mem::take(&mut *known);
        if !servers.is_empty() {
            for catalog in before.into_values() {
                catalog.inner.replace(plan.as_seen_by(&catalog.caller));
                known.insert(key(&servers, &catalog.caller), catalog);
            }
        }
        self.servers.store(Arc::new(servers));
    }

    /// Ends the catalogs that were not used for a while, except those with calls in flight. Returns
    /// true if none is left.
    fn retire_idle(&self) -> bool {
        let idle = self.options.idle;
        let mut known = self.known.lock();
        known.retain(|_, known| known.is_in_use() || known.used.elapsed() < idle);
        known.is_empty()
    }
}

impl PersonalCatalog {
    /// A call in flight holds the catalog.
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.inner) > 1
    }
}

impl Gateway {
    /// The catalog that this caller sees, if that is not the common one.
    pub(super) fn own_catalog(&self, caller: &Arc<Caller>) -> Option<Result<Arc<Inner>, Fault>> {
        let servers = self.personal.servers.load();
        if servers.is_empty() || Caller::is_ourselves(caller) {
            return None;
        }
        let key = key(&servers, caller);
        let mut known = self.personal.known.lock();
        if let Some(catalog) = known.get_mut(&key) {
            catalog.used = Moment::now();
            return Some(Ok(Arc::clone(&catalog.inner)));
        }
        let is_first = known.is_empty();
        if let Err(fault) = make_room(&mut known, caller, self.personal.options.most) {
            return Some(Err(fault));
        }
        let inner = self.inner.as_seen_by(caller);
        let made =
            PersonalCatalog { inner: Arc::clone(&inner), caller: Arc::clone(caller), used: Moment::now() };
        known.insert(key, made);
        if is_first {
            tokio::spawn(tidy(Arc::downgrade(&self.personal)));
        }
        Some(Ok(inner))
    }

    pub(super) fn call_personally(inner: Arc<Inner>, call: Call) -> Reply {
        let reply = inner.handle(call);
        Reply::new(reply.map(move |part| {
            // Keeps the catalog, and so the sessions of its servers, until the call has ended.
            let _in_use = &inner;
            part
        }))
    }

    pub(super) fn pass_on(&self, notice: &Notify) {
        match self.own_catalog(&notice.caller) {
            Some(Ok(inner)) => inner.pass_on(notice),
            Some(Err(fault)) => tracing::debug!(%fault, "a notification was dropped"),
            None => self.inner.pass_on(notice),
        }
    }
}

impl Inner {
    /// A gateway with the same options and limits and the servers that this caller sees.
    fn as_seen_by(&self, caller: &Caller) -> Arc<Self> {
        let builder = self.builder().as_seen_by(caller);
        let shared = Shared {
            options: Arc::clone(&self.options),
            lists: self.lists.clone(),
            ids: Arc::clone(&self.ids),
            states: Arc::clone(&self.states),
            started: self.started.clone(),
            listeners: Arc::clone(&self.listeners),
            checks: Arc::clone(&self.checks),
            checkers: Arc::clone(&self.checkers),
        };
        let own = Arc::new(Self::new(builder, shared));
        keeper::start(&own);
        own
    }
}

/// Makes room for a catalog: of its own principal, if that has many, else of any.
fn make_room(
    known: &mut HashMap<Vec<Identity>, PersonalCatalog>,
    caller: &Caller,
    most: usize,
) -> Result<(), Fault> {
    let own = known.values().filter(|known| known.caller.id == caller.id).count();
    let is_own = |known: &PersonalCatalog| known.caller.id == caller.id;
    if own < PER_PRINCIPAL && known.len() < most {
        return Ok(());
    }
    let unused =
        known.iter().filter(|(_, known)| (own < PER_PRINCIPAL || is_own(known)) && !known.is_in_use());
    let oldest = unused.min_by_key(|(_, known)| known.used).map(|(key, _)| key.clone());
    let oldest = oldest.ok_or_else(|| faults::no_catalog(most))?;
    known.remove(&oldest);
    Ok(())
}

fn personal(servers: &[Arc<dyn Source>]) -> Vec<Arc<dyn Source>> {
    servers.iter().filter(|server| server.is_personal()).cloned().collect()
}

fn key(servers: &[Arc<dyn Source>], caller: &Caller) -> Vec<Identity> {
    servers.iter().filter_map(|server| server.identity(caller)).collect()
}

/// Runs while there are catalogs.
async fn tidy(catalogs: Weak<PersonalCatalogs>) {
    loop {
        tokio::time::sleep(TIDY_EVERY).await;
        if catalogs.upgrade().is_none_or(|catalogs| catalogs.retire_idle()) {
            return;
        }
    }
}

#[cfg(test)]
impl Gateway {
    pub(super) fn personal_catalogs(&self) -> usize {
        self.personal.known.lock().len()
    }
}
