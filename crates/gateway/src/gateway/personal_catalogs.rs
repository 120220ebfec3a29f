//! Catalogs of single identities. If a server shows each caller something else, no snapshot can be
//! right for all of them, so each identity gets its own. It shares with the common one everything
//! that comes from other servers.

use super::{Gateway, Inner, faults, keeper};
use crate::{catalog::Plan, gateway::Source, upstream::Identity};
use arc_swap::ArcSwap;
use futures_util::{FutureExt, StreamExt, stream};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::{sync::watch, task};
use trunkline_protocol::{Call, Caller, Fault, Notify, Part, Raw, Reply, method};
use trunkline_resilience::Moment;

/// Most catalogs of one principal, whose requests may carry many values of a header.
const PER_PRINCIPAL: usize = 16;
/// Interval of the search for unused catalogs.
const TIDY_EVERY: Duration = Duration::from_mins(1);
/// How long a caller that only listens keeps its catalog when all are taken.
const LISTENER_PATIENCE: Duration = Duration::from_mins(1);

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
    /// The servers that differ by caller. Each replacement is another `Arc`.
    servers: ArcSwap<Servers>,
    /// Locked only to look something up: catalogs are built without it.
    known: Mutex<Known>,
    /// Makes replacements sequential, so that the newest rules win.
    replacing: Mutex<()>,
    options: PersonalOptions,
}

type Servers = Vec<Arc<dyn Source>>;
type Known = HashMap<Vec<Identity>, PersonalCatalog>;

struct PersonalCatalog {
    inner: Arc<Inner>,
    /// The caller that it was made for.
    caller: Arc<Caller>,
    /// The last call that was no subscription.
    used: Moment,
    /// Held by calls that are no subscriptions.
    busy: Arc<()>,
    /// True if another caller needs the place. The subscriptions end with that, and with the
    /// catalog: one that no reload reaches any more would keep its rules for ever.
    given_up: watch::Sender<bool>,
}

/// The catalog that a caller sees.
enum Seen {
    Common,
    Own(Held),
    /// Its own, which has to be built for these servers.
    Unbuilt {
        servers: Arc<Servers>,
        key: Vec<Identity>,
    },
}

/// A catalog, held by a call.
pub(super) struct Held {
    inner: Arc<Inner>,
    busy: Arc<()>,
    given_up: watch::Receiver<bool>,
}

impl PersonalCatalogs {
    pub(super) fn new(servers: &[Arc<dyn Source>], options: PersonalOptions) -> Arc<Self> {
        let servers = ArcSwap::from_pointee(personal(servers));
        Arc::new(Self { servers, known: Mutex::default(), replacing: Mutex::default(), options })
    }

    /// Applies new rules and servers to all catalogs. Those that no caller would get any more are
    /// dropped, and their subscriptions end.
    pub(super) fn replace(&self, plan: &Plan) {
        let _turn = self.replacing.lock();
        let servers = Arc::new(personal(plan.sources()));
        let kept: Vec<(Arc<Inner>, Arc<Caller>)> = {
            let mut known = self.known.lock();
            let before = std::mem::take(&mut *known);
            if !servers.is_empty() {
                let named = before.into_values().map(|catalog| (key(&servers, &catalog.caller), catalog));
                known.extend(named);
            }
            self.servers.store(servers);
            known.values().map(|known| (Arc::clone(&known.inner), Arc::clone(&known.caller))).collect()
        };
        for (inner, caller) in kept {
            inner.replace(plan.as_seen_by(&caller));
        }
    }

    /// The catalog of this identity for a call. `None` if it has to be built; an error if there is
    /// no room for it.
    fn find(&self, key: &[Identity], caller: &Caller, is_subscription: bool) -> Result<Option<Held>, Fault> {
        let mut known = self.known.lock();
        if let Some(catalog) = known.get_mut(key) {
            if !is_subscription {
                catalog.used = Moment::now();
            }
            return Ok(Some(catalog.held()));
        }
        room(&known, caller, self.options.most)?;
        Ok(None)
    }

    /// Keeps a catalog that was built for these servers. `None` if they were replaced since.
    fn keep(
        self: &Arc<Self>,
        servers: &Arc<Servers>,
        key: Vec<Identity>,
        made: PersonalCatalog,
    ) -> Result<Option<Held>, Fault> {
        let mut known = self.known.lock();
        if !Arc::ptr_eq(servers, &self.servers.load()) {
            return Ok(None);
        }
        // Another call of this identity may have been faster.
        if let Some(catalog) = known.get(&key) {
            return Ok(Some(catalog.held()));
        }
        let is_first = known.is_empty();
        if let Some(oldest) = room(&known, &made.caller, self.options.most)?
            && let Some(oldest) = known.remove(&oldest)
        {
            oldest.given_up.send_replace(true);
        }
        let held = made.held();
        known.insert(key, made);
        if is_first {
            tokio::spawn(tidy(Arc::downgrade(self)));
        }
        Ok(Some(held))
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
    fn new(inner: Arc<Inner>, caller: &Arc<Caller>) -> Self {
        let (caller, given_up) = (Arc::clone(caller), watch::Sender::new(false));
        Self { inner, caller, used: Moment::now(), busy: Arc::default(), given_up }
    }

    fn held(&self) -> Held {
        let (inner, busy) = (Arc::clone(&self.inner), Arc::clone(&self.busy));
        Held { inner, busy, given_up: self.given_up.subscribe() }
    }

    /// A call in flight holds the catalog.
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.inner) > 1
    }

    /// True if it can be dropped for another caller: nobody uses it, or only subscriptions do, and
    /// its caller has called nothing for a while.
    fn can_give_way(&self) -> bool {
        let only_listens = Arc::strong_count(&self.busy) == 1;
        !self.is_in_use() || only_listens && self.used.elapsed() >= LISTENER_PATIENCE
    }
}

impl Gateway {
    /// Calls by the catalog that the caller sees. One that has to be built is built on a blocking
    /// thread, because that takes long with thousands of tools.
    pub(super) fn call_as_seen(&self, call: Call) -> Reply {
        match self.seen(&call.caller, &call.method) {
            Ok(Seen::Common) => self.inner.handle(call),
            Ok(Seen::Own(held)) => Self::call_personally(held, call),
            Ok(Seen::Unbuilt { .. }) => {
                let gateway = self.clone();
                let build = task::spawn_blocking(move || (gateway.built(&call.caller, &call.method), call));
                let common = Arc::clone(&self.inner);
                let reply = build.map(move |built| match built {
                    Ok((Ok(Some(held)), call)) => Self::call_personally(held, call),
                    Ok((Ok(None), call)) => common.handle(call),
                    Ok((Err(fault), _)) => Reply::ready(Err(fault)),
                    Err(error) => Reply::ready(Err(faults::unbuilt(&error))),
                });
                Reply::new(stream::once(reply).flatten())
            }
            Err(fault) => Reply::ready(Err(fault)),
        }
    }

    /// The catalog that this caller sees.
    fn seen(&self, caller: &Arc<Caller>, method: &str) -> Result<Seen, Fault> {
        let servers = self.personal.servers.load_full();
        if servers.is_empty() || Caller::is_ourselves(caller) {
            return Ok(Seen::Common);
        }
        let key = key(&servers, caller);
        let found = self.personal.find(&key, caller, method == method::LISTEN)?;
        Ok(found.map_or(Seen::Unbuilt { servers, key }, Seen::Own))
    }

    /// The same, built if it has to be; `None` is the common one.
    fn built(&self, caller: &Arc<Caller>, method: &str) -> Result<Option<Held>, Fault> {
        loop {
            let (servers, key) = match self.seen(caller, method)? {
                Seen::Common => return Ok(None),
                Seen::Own(held) => return Ok(Some(held)),
                Seen::Unbuilt { servers, key } => (servers, key),
            };
            let made = PersonalCatalog::new(self.inner.as_seen_by(caller), caller);
            if let Some(kept) = self.personal.keep(&servers, key, made)? {
                return Ok(Some(kept));
            }
        }
    }

    /// The caller's own catalog, if it has used one already.
    pub(super) fn known_catalog(&self, caller: &Arc<Caller>) -> Option<Arc<Inner>> {
        let servers = self.personal.servers.load();
        if servers.is_empty() || Caller::is_ourselves(caller) {
            return None;
        }
        let known = self.personal.known.lock();
        known.get(&key(&servers, caller)).map(|catalog| Arc::clone(&catalog.inner))
    }

    /// The catalog by which a call of this caller is explained: its own, if it has used one. An
    /// explanation knows no headers of a request, so the identity that the caller used last stands
    /// for it.
    pub(super) fn catalog_of(&self, caller: &Arc<Caller>) -> Arc<Inner> {
        let latest = || {
            let known = self.personal.known.lock();
            let own = known.values().filter(|known| known.caller.id == caller.id);
            own.max_by_key(|known| known.used).map(|known| Arc::clone(&known.inner))
        };
        self.known_catalog(caller).or_else(latest).unwrap_or_else(|| Arc::clone(&self.inner))
    }

    fn call_personally(held: Held, call: Call) -> Reply {
        let is_subscription = call.method == method::LISTEN;
        let Held { inner, busy, mut given_up } = held;
        let reply = inner.handle(call);
        if is_subscription {
            drop((inner, busy));
            let ended = async move {
                let is_given_up = given_up.wait_for(|given_up| *given_up).await.is_ok();
                Part::Final(if is_given_up { Err(faults::given_up()) } else { Ok(Raw::empty_object()) })
            };
            return Reply::new(stream::select(reply, stream::once(ended)));
        }
        Reply::new(reply.map(move |part| {
            // Keeps the catalog, and so the sessions of its servers, until the call has ended.
            let _in_use = (&inner, &busy);
            part
        }))
    }

    pub(super) fn pass_on(&self, notice: &Notify) {
        match self.seen(&notice.caller, &notice.notification.method) {
            Ok(Seen::Own(held)) => held.inner.pass_on(notice),
            // The servers of the caller alone have no session yet.
            Ok(Seen::Common | Seen::Unbuilt { .. }) => self.inner.pass_on(notice),
            Err(fault) => tracing::debug!(%fault, "a notification was dropped"),
        }
    }
}

impl Inner {
    /// A gateway with the same options and limits and the servers that this caller sees.
    fn as_seen_by(&self, caller: &Caller) -> Arc<Self> {
        let builder = self.builder().as_seen_by(caller);
        let own = Arc::new(Self::new(builder, Arc::clone(&self.shared)));
        keeper::start(&own);
        own
    }
}

/// Room for another catalog of this caller: the catalog that gives way, if one has to. That is one
/// of the same principal, if it has many, else any; the one that was not used for longest.
fn room(known: &Known, caller: &Caller, most: usize) -> Result<Option<Vec<Identity>>, Fault> {
    let is_own = |known: &PersonalCatalog| known.caller.id == caller.id;
    let own = known.values().filter(|known| is_own(known)).count();
    if own < PER_PRINCIPAL && known.len() < most {
        return Ok(None);
    }
    let eligible =
        known.iter().filter(|(_, known)| (own < PER_PRINCIPAL || is_own(known)) && known.can_give_way());
    let oldest = eligible.min_by_key(|(_, known)| (known.is_in_use(), known.used));
    oldest.map(|(key, _)| Some(key.clone())).ok_or_else(|| faults::no_catalog(most))
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
