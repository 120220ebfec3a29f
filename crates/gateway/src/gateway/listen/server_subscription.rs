//! Splits the filter of a listener into one request per server.

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

/// Most resources and tasks in one subscription.
const MAX_NAMED: usize = 1000;

/// The request to one server, with the names of the server and of the listener.
#[derive(Debug, Clone, Default)]
pub(super) struct ServerSubscription {
    pub(super) server: String,
    /// The server's own URI → the listener's.
    pub(super) uris: BTreeMap<String, String>,
    /// The server's own task id → the listener's.
    pub(super) tasks: BTreeMap<String, String>,
    /// Unknown members of the filter, which are sent to every server.
    pub(super) rest: Object,
}

impl ServerSubscription {
    /// Returns the lists that the gateway itself watches, and the request to each server. Anything
    /// the caller may not use is silently left out.
    pub(super) fn sort(
        inner: &Inner,
        catalog: &Catalog,
        view: &View,
        caller: &Caller,
        wanted: &SubscriptionFilter,
    ) -> Result<(SubscriptionFilter, Vec<Self>), Fault> {
        let named = wanted.resource_subscriptions.as_ref().map_or(0, Vec::len)
            + wanted.task_ids.as_ref().map_or(0, Vec::len);
        if named > MAX_NAMED {
            let text =
                format!("a subscription may name at most {MAX_NAMED} resources and tasks, not {named}");
            return Err(Fault::new(FaultKind::InvalidRequest, text));
        }
        let mut by_server: HashMap<&str, Self> = HashMap::new();
        for uri in wanted.resource_subscriptions.iter().flatten() {
            if let Some((found, _)) = permitted(catalog, view, caller, uri) {
                let own = by_server.entry(found.server.name().as_ref()).or_default();
                own.uris.insert(found.inner, uri.clone());
            }
        }
        for id in wanted.task_ids.iter().flatten() {
            if let Some(task) = inner.find_task(catalog, view, caller, id) {
                by_server
                    .entry(task.server.name().as_ref())
                    .or_default()
                    .tasks
                    .insert(task.inner, id.clone());
            }
        }
        if !wanted.rest.is_empty() {
            let may =
                |server: &&Arc<Server>| catalog.policy.permit_to(caller, server, method::LISTEN).is_some();
            for server in view.servers.iter().filter(may) {
                by_server.entry(server.name().as_ref()).or_default().rest = wanted.rest.clone();
            }
        }
        // In the order of the servers, so that the same filter always makes the same calls.
        let sorted = view.servers.iter().filter_map(|server| {
            let subscription = by_server.remove(server.name().as_ref())?;
            Some(Self { server: server.name().to_string(), ..subscription })
        });
        Ok((lists(view, wanted), sorted.collect()))
    }

    /// The filter for the server, with its own names.
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

    /// The whole request, with the listener's names.
    pub(super) fn whole(&self) -> SubscriptionFilter {
        self.granted(&SubscriptionFilter {
            resource_subscriptions: Some(self.uris.keys().cloned().collect()),
            task_ids: Some(self.tasks.keys().cloned().collect()),
            rest: self.rest.clone(),
            ..SubscriptionFilter::default()
        })
    }

    /// The part that a server acknowledged, with the listener's names.
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

/// The requested lists that some server has, or may have because it has not connected yet.
fn lists(view: &View, wanted: &SubscriptionFilter) -> SubscriptionFilter {
    let unconnected = view.servers.iter().any(|server| server.offer().is_none());
    let has = |declares: fn(&Arc<Server>) -> bool| unconnected || view.servers.iter().any(declares);
    let yes = |wanted: Option<bool>, has: bool| wanted.filter(|wanted| *wanted && has);
    SubscriptionFilter {
        tools_list_changed: yes(
            wanted.tools_list_changed,
            has(|server| server.capabilities().tools.is_some()),
        ),
        prompts_list_changed: yes(
            wanted.prompts_list_changed,
            has(|server| server.capabilities().prompts.is_some()),
        ),
        resources_list_changed: yes(
            wanted.resources_list_changed,
            has(|server| server.capabilities().resources.is_some()),
        ),
        ..SubscriptionFilter::default()
    }
}

/// A server with its snapshot and view, which it keeps alive.
pub(super) struct Current {
    pub(super) catalog: Arc<Catalog>,
    pub(super) view: Arc<View>,
    pub(super) server: Arc<Server>,
}

impl Inner {
    /// The server of this name in the current snapshot.
    pub(super) fn current(&self, view: Option<&str>, server: &str) -> Option<Current> {
        let catalog = self.now.load_full();
        let view = Arc::clone(catalog.view(view)?);
        let server = Arc::clone(view.server(server)?);
        Some(Current { catalog, view, server })
    }
}
