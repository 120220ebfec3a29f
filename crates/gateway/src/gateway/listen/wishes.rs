//! What a listener wants, sorted by who can tell it.

use super::super::{Inner, read::permitted};
use crate::{
    catalog::{Catalog, Server},
    view::View,
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};
use trunkline_protocol::{Caller, Fault, FaultKind, Object, Raw, message::SubscriptionFilter, method};

/// How many resources and tasks one subscription may name.
const MAX_NAMED: usize = 1000;

/// What is asked of one server, in its own words, with the words of the listener.
#[derive(Debug, Clone, Default)]
pub(super) struct Wishes {
    pub(super) server: String,
    /// The server's own URI → the listener's.
    pub(super) uris: BTreeMap<String, String>,
    /// The server's own task id → the listener's.
    pub(super) tasks: BTreeMap<String, String>,
    /// What we do not know is asked of every server.
    pub(super) rest: Object,
}

impl Wishes {
    /// The lists that we watch ourselves, and what each server is asked for. What a caller may not know of is left out
    /// without a word.
    pub(super) fn sort(
        inner: &Inner,
        catalog: &Catalog,
        view: &View,
        (caller, wish): (&Caller, SubscriptionFilter),
    ) -> Result<(SubscriptionFilter, Vec<Self>), Fault> {
        let named = wish.resource_subscriptions.as_ref().map_or(0, Vec::len)
            + wish.task_ids.as_ref().map_or(0, Vec::len);
        if named > MAX_NAMED {
            let text = format!("one subscription may name {MAX_NAMED} things, not {named}");
            return Err(Fault::new(FaultKind::InvalidRequest, text));
        }
        let mut by_server: HashMap<&str, Self> = HashMap::new();
        for uri in wish.resource_subscriptions.iter().flatten() {
            if let Some((found, _)) = permitted(catalog, view, caller, uri) {
                let own = by_server.entry(found.server.name().as_ref()).or_default();
                own.uris.insert(found.inner, uri.clone());
            }
        }
        for id in wish.task_ids.iter().flatten() {
            if let Some(place) = inner.find_task(catalog, view, caller, id) {
                by_server
                    .entry(place.server.name().as_ref())
                    .or_default()
                    .tasks
                    .insert(place.inner, id.clone());
            }
        }
        if !wish.rest.is_empty() {
            let may =
                |server: &&Arc<Server>| catalog.policy.permit_to(caller, server, method::LISTEN).is_some();
            for server in view.servers.iter().filter(may) {
                by_server.entry(server.name().as_ref()).or_default().rest = wish.rest.clone();
            }
        }
        // In the order of the servers, so that the same wish always makes the same calls.
        let sorted = view.servers.iter().filter_map(|server| {
            let wishes = by_server.remove(server.name().as_ref())?;
            Some(Self { server: server.name().to_string(), ..wishes })
        });
        Ok((lists(view, &wish), sorted.collect()))
    }

    /// As the server is asked.
    pub(super) fn to_filter(&self) -> Raw {
        let names =
            |names: &BTreeMap<String, String>| (!names.is_empty()).then(|| names.keys().cloned().collect());
        let filter = SubscriptionFilter {
            resource_subscriptions: names(&self.uris),
            task_ids: names(&self.tasks),
            rest: self.rest.clone(),
            ..SubscriptionFilter::default()
        };
        filter.to_raw()
    }

    /// All of it, as the listener said it.
    pub(super) fn whole(&self) -> SubscriptionFilter {
        self.granted(&SubscriptionFilter {
            resource_subscriptions: Some(self.uris.keys().cloned().collect()),
            task_ids: Some(self.tasks.keys().cloned().collect()),
            rest: self.rest.clone(),
            ..SubscriptionFilter::default()
        })
    }

    /// What a server agreed to, as the listener said it.
    pub(super) fn granted(&self, agreed: &SubscriptionFilter) -> SubscriptionFilter {
        let known = |names: &BTreeMap<String, String>, agreed: &Option<Vec<String>>| {
            agreed.as_ref().map(|agreed| agreed.iter().filter_map(|name| names.get(name).cloned()).collect())
        };
        SubscriptionFilter {
            resource_subscriptions: known(&self.uris, &agreed.resource_subscriptions),
            task_ids: known(&self.tasks, &agreed.task_ids),
            rest: agreed.rest.clone(),
            ..SubscriptionFilter::default()
        }
    }
}

/// The lists whose changes are told: those that are wanted and that some server has, or may turn out to have.
fn lists(view: &View, wish: &SubscriptionFilter) -> SubscriptionFilter {
    let unheard = view.servers.iter().any(|server| server.offer().is_none());
    let has = |declares: fn(&Arc<Server>) -> bool| unheard || view.servers.iter().any(declares);
    let yes = |wish: Option<bool>, has: bool| wish.filter(|wish| *wish && has);
    SubscriptionFilter {
        tools_list_changed: yes(wish.tools_list_changed, has(|server| server.capabilities().tools.is_some())),
        prompts_list_changed: yes(
            wish.prompts_list_changed,
            has(|server| server.capabilities().prompts.is_some()),
        ),
        resources_list_changed: yes(
            wish.resources_list_changed,
            has(|server| server.capabilities().resources.is_some()),
        ),
        ..SubscriptionFilter::default()
    }
}

/// A server and where it stands, kept beyond the next snapshot.
pub(super) struct Current {
    pub(super) catalog: Arc<Catalog>,
    pub(super) view: Arc<View>,
    pub(super) server: Arc<Server>,
}

impl Inner {
    /// The server that a relay goes to, as it is now.
    pub(super) fn current(&self, view: Option<&str>, server: &str) -> Option<Current> {
        let catalog = self.now.load_full();
        let view = Arc::clone(catalog.view(view)?);
        let server = Arc::clone(view.server(server)?);
        Some(Current { catalog, view, server })
    }
}
