//! Gateway: presents many servers as one handler.
//!
//! A call loads one snapshot of the catalog, finds its route by name, gets a permit from the
//! policy, and is sent to the server with the server's own names. The reply is passed on
//! unchanged, except for the parts that `rewrite` must translate.

mod blocking_check;
mod call;
mod consent;
mod discover;
mod explain;
mod extension;
mod faults;
mod keeper;
mod listen;
mod listeners;
mod lists;
mod located;
mod options;
mod own_tools;
mod personal_catalogs;
mod read;
mod shared;
mod sign_in;
mod source;
mod tasks;
mod visible;

use crate::{
    approval::Approvals,
    catalog::{BadRules, Builder, Catalog, CatalogReport, Checker, Plan, Rules, Server},
    disclosure::Disclosure,
    policy::{self, Agreement, Asked, Permit},
    upstream::Kind,
    view::View,
};
use arc_swap::ArcSwap;
use futures_util::{StreamExt, future, stream};
use located::Located;
use parking_lot::{Mutex, MutexGuard};
use personal_catalogs::PersonalCatalogs;
use shared::Shared;
use std::{collections::HashMap, fmt, sync::Arc};
use tokio::sync::watch;
use trunkline_protocol::{Call, Caller, Era, Fault, Handler, Notify, Raw, Reply, ServerName, method};
use trunkline_resilience::{Moment, timeout};

pub use explain::PossibleAccess;
pub use options::{GatewayOptions, MAX_PAGE_SIZE};
pub use personal_catalogs::PersonalOptions;
pub use source::Source;

/// Many servers as one handler. Clones share everything.
#[derive(Clone)]
pub struct Gateway {
    /// The catalog of callers that see the same as others.
    inner: Arc<Inner>,
    personal: Arc<PersonalCatalogs>,
}

pub(crate) struct Inner {
    now: ArcSwap<Catalog>,
    /// Locked only to make the next snapshot.
    builder: Mutex<Builder>,
    /// Counts snapshots.
    changed: watch::Sender<u64>,
    /// Counts attempts to make a snapshot, also those that found nothing to change: the state of a
    /// server may have.
    rebuilt: watch::Sender<u64>,
    /// Number of calls that wait for another snapshot.
    waiting: watch::Sender<usize>,
    /// Notifies the keeper that the servers were replaced or the gateway dropped.
    replaced: Arc<tokio::sync::Notify>,
    /// When servers that have not connected yet were first requested.
    wanted: Mutex<HashMap<ServerName, Moment>>,
    shared: Arc<Shared>,
}

/// The checks that a call has passed already.
#[derive(Debug, Clone, Default)]
struct Passed {
    /// Its arguments fit this schema.
    checker: Option<Arc<Checker>>,
    agreement: Option<Agreement>,
}

/// A call that a person must agree to.
struct Question<'a> {
    asked: &'a Asked,
    call: &'a Call,
    /// The parameters as the server gets them, if they differ: a state is bound to these.
    sent: Option<Raw>,
}

impl Gateway {
    /// A gateway with the current offers of the servers. Must be called within a runtime: it
    /// spawns the task that updates the catalog.
    pub fn new(options: GatewayOptions) -> Result<Self, BadRules> {
        let plan = Plan::new(&options.rules, options.servers.clone())?;
        let personal = PersonalCatalogs::new(plan.sources(), options.personal);
        let inner = Arc::new(Inner::new(Builder::new(plan), Arc::new(Shared::new(options))));
        keeper::start(&inner);
        Ok(Self { inner, personal })
    }

    /// Replaces rules and servers at once. Calls in flight keep their server; invalid rules change
    /// nothing.
    pub fn replace(&self, rules: &Rules, servers: Vec<Arc<dyn Source>>) -> Result<(), BadRules> {
        let plan = Plan::new(rules, servers)?;
        self.inner.replace(plan.clone());
        self.personal.replace(&plan);
        Ok(())
    }

    /// The name of a tool that is the same in all views: its server's and its own.
    pub fn own_name(&self, view: Option<&str>, tool: &str) -> Option<String> {
        let catalog = self.inner.now.load();
        let view = catalog.view(view)?;
        match Located::find(&catalog, view, tool)? {
            Located::Route(route) => Some(policy::subject(route.server().name().as_ref(), route.inner())),
            // A server that differs by caller has no items in this catalog, and the view of one
            // server passes unlisted names on.
            Located::Unlisted(server, own) if server.is_personal() || view.unruled => {
                Some(policy::subject(server.name().as_ref(), &own))
            }
            Located::Unlisted(..) => None,
        }
    }

    /// True if some results of this view are cut.
    pub(crate) fn cuts_results(&self, view: Option<&str>) -> bool {
        self.inner.now.load().view(view).is_some_and(|view| view.cuts_results)
    }

    /// Most bytes of text in a result of this tool, as the caller sees it; `None`: it is not cut.
    pub(crate) fn result_bytes(&self, caller: &Arc<Caller>, view: Option<&str>, tool: &str) -> Option<usize> {
        let own = self.known_catalog(caller);
        let catalog = own.as_ref().unwrap_or(&self.inner).now.load();
        let view = catalog.view(view)?;
        view.result_bytes_of(Located::find(&catalog, view, tool)?.server())
    }

    /// The server of a tool that the caller could use. One that is not listed yet has its server's
    /// name in front of its own. A tool that the caller may not use has none, like one that does
    /// not exist: the server's load must not tell them apart.
    pub fn server_of(&self, caller: &Caller, view: Option<&str>, tool: &str) -> Option<ServerName> {
        let catalog = self.inner.now.load();
        let view = catalog.view(view)?;
        let is_named = |server: &&Arc<Server>| {
            let own = tool.strip_prefix(server.name().as_ref()).and_then(|rest| rest.strip_prefix('_'));
            own.is_some_and(|own| catalog.policy.admits_name(caller, server.name(), tool, own))
        };
        let server = match view.tools.get(tool) {
            Some(route) if !catalog.policy.admits(caller, route) => return None,
            Some(route) => route.server(),
            None if view.unruled => view.servers.first()?,
            None => view.servers.iter().find(is_named)?,
        };
        Some(server.name().clone())
    }

    /// True if the tools of this view are disclosed by search.
    pub(crate) fn searches(&self, view: Option<&str>) -> bool {
        self.inner.now.load().view(view).is_some_and(|view| view.disclosure == Disclosure::Search)
    }

    /// The calls that wait for operators.
    pub fn approvals(&self) -> Option<&Approvals> {
        self.inner.shared.options.approvals.as_ref()
    }

    /// The offered items, and the quarantined and hidden ones with the reason.
    pub fn catalog_report(&self) -> CatalogReport {
        self.inner.now.load().report.clone()
    }
}

impl Handler for Gateway {
    fn call(&self, call: Call) -> Reply {
        self.call_as_seen(call)
    }

    fn notify(&self, notice: Notify) {
        self.pass_on(&notice);
    }

    fn has_view(&self, view: &str) -> bool {
        self.inner.now.load().views.contains_key(view)
    }

    fn admits(&self, view: &str, caller: &Caller) -> bool {
        let catalog = self.inner.now.load();
        catalog.views.get(view).is_some_and(|view| catalog.policy.may_enter(caller, view))
    }
}

impl Inner {
    fn new(mut builder: Builder, shared: Arc<Shared>) -> Self {
        let first = builder.build().expect("the first snapshot is always new");
        Self {
            now: ArcSwap::from_pointee(first),
            builder: Mutex::new(builder),
            changed: watch::Sender::new(0),
            rebuilt: watch::Sender::new(0),
            waiting: watch::Sender::new(0),
            replaced: Arc::default(),
            wanted: Mutex::default(),
            shared,
        }
    }

    fn handle(self: &Arc<Self>, call: Call) -> Reply {
        let catalog = self.now.load();
        let Some(view) = catalog.view(call.view.as_deref()) else {
            return Reply::ready(Err(faults::no_view(call.view.as_deref())));
        };
        // A subscription does not wait for the server and does not start it.
        if call.method != method::LISTEN
            && let Some(server) = view.unconnected()
        {
            return self.once_connected(server, call);
        }
        self.answer(&catalog, view, call)
    }

    fn replace(&self, plan: Plan) {
        {
            let mut builder = self.builder();
            builder.replace(plan);
            self.swap(builder.build());
        }
        self.replaced.notify_one();
    }

    fn answer(self: &Arc<Self>, catalog: &Catalog, view: &Arc<View>, call: Call) -> Reply {
        match call.method.as_ref() {
            method::TOOLS_CALL | method::PROMPTS_GET | method::RESOURCES_READ => {
                self.use_item(catalog, view, call, Passed::default())
            }
            method::COMPLETE => Self::complete(catalog, view, call),
            method::TOOLS_LIST => self.list(catalog, view, call, Kind::Tools),
            method::PROMPTS_LIST => self.list(catalog, view, call, Kind::Prompts),
            method::RESOURCES_LIST => self.list(catalog, view, call, Kind::Resources),
            method::RESOURCES_TEMPLATES => self.list(catalog, view, call, Kind::Templates),
            method::DISCOVER => Reply::ready(Ok(self.discover(catalog, view, &call.caller))),
            method::LISTEN => self.listen(call),
            // These methods exist only up to revision 2025-11-25.
            method::TASKS_RESULT | method::TASKS_LIST if call.revision.era() == Era::Modern => {
                Reply::ready(Err(faults::no_method(&call.method)))
            }
            method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL | method::TASKS_RESULT => {
                self.ask_about_task(catalog, view, call)
            }
            method::TASKS_LIST => self.list_tasks(catalog, view, call),
            method::PING => Reply::ready(Ok(Raw::empty_object())),
            _ => Self::extension(catalog, view, call),
        }
    }

    /// Calls a tool, gets a prompt or reads a resource.
    fn use_item(self: &Arc<Self>, catalog: &Catalog, view: &View, call: Call, passed: Passed) -> Reply {
        match call.method.as_ref() {
            method::RESOURCES_READ => self.read_resource(catalog, view, call, passed),
            _ => self.use_named(catalog, view, call, passed),
        }
    }

    /// The permit of a call that a person was asked about: one who agreed, or agreed to an earlier
    /// round of the same call, whose state the call carries.
    fn agreed<'a>(
        &self,
        Question { asked, call, sent }: Question<'_>,
        passed: &Passed,
        server: &'a Server,
    ) -> Option<Permit<'a>> {
        let mut inner = call.clone();
        inner.params = sent.or(inner.params);
        let is_continued = self.shared.states.continues(server.name(), &inner);
        let renewed = is_continued.then(|| Agreement::new(asked, call));
        let agreement = passed.agreement.as_ref().or(renewed.as_ref())?;
        agreement.permit(asked, call, server)
    }

    /// Answers a call that has waited: the snapshot may have changed in the meantime.
    fn by_newest(&self, call: Call, answer: impl FnOnce(&Catalog, &Arc<View>, Call) -> Reply) -> Reply {
        let catalog = self.now.load_full();
        match catalog.view(call.view.as_deref()) {
            Some(view) => answer(&catalog, view, call),
            None => Reply::ready(Err(faults::no_view(call.view.as_deref()))),
        }
    }

    /// Sends a call to its server. A state that the server hands out is bound to the call.
    fn send(&self, permit: Permit<'_>, call: Call) -> Reply {
        self.shared.states.around(permit.server().name(), call, |call| permit.call(call))
    }

    /// Answers a call once its server has connected for the first time.
    fn once_connected(self: &Arc<Self>, server: &Arc<Server>, call: Call) -> Reply {
        let (inner, server) = (Arc::clone(self), Arc::clone(server));
        let reply = async move {
            if let Err(fault) = inner.wait_for_offer(&server, &call).await {
                return Reply::ready(Err(fault));
            }
            inner.by_newest(call, |catalog, view, call| inner.answer(catalog, view, call))
        };
        Reply::new(stream::once(reply).flatten())
    }

    /// Answers a call once `usable` is true, or with `unknown` if that does not happen before the
    /// servers' time is over.
    fn once_usable(
        self: &Arc<Self>,
        call: Call,
        unknown: Fault,
        usable: fn(&Catalog, &View, &Call) -> bool,
    ) -> Reply {
        let inner = Arc::clone(self);
        let reply = async move {
            let catalog = inner.wait_for_servers(&call, usable).await;
            match catalog.view(call.view.as_deref()).filter(|view| usable(&catalog, view, &call)) {
                Some(view) => inner.answer(&catalog, view, call),
                None => Reply::ready(Err(unknown)),
            }
        };
        Reply::new(stream::once(reply).flatten())
    }

    /// Answers a call once it is known what the servers offer to its client, or with `unknown` if
    /// that does not have the name.
    fn once_offered(self: &Arc<Self>, catalog: &Catalog, view: &View, call: Call, unknown: Fault) -> Reply {
        let preparing = lists::prepare(catalog, view, &call);
        if preparing.is_empty() {
            return Reply::ready(Err(unknown));
        }
        let inner = Arc::clone(self);
        let reply = async move {
            timeout(inner.shared.options.patience, future::join_all(preparing)).await;
            keeper::rebuild(&inner).await;
            let catalog = inner.now.load_full();
            match catalog.view(call.view.as_deref()).filter(|view| call::is_usable(&catalog, view, &call)) {
                Some(view) => inner.answer(&catalog, view, call),
                None => Reply::ready(Err(unknown)),
            }
        };
        Reply::new(stream::once(reply).flatten())
    }

    /// Answers a call once its server's definitions were read again and compared with the
    /// accepted ones.
    fn once_verified(self: &Arc<Self>, server: &Arc<Server>, call: Call) -> Reply {
        let (inner, server) = (Arc::clone(self), Arc::clone(server));
        let reply = async move {
            server.wake();
            let is_verified = |_: &Catalog, view: &View| {
                view.server(server.name().as_ref()).is_none_or(|server| server.is_verified())
            };
            let until = Moment::now() + inner.shared.options.patience;
            if !inner.wait(&call, until, is_verified).await {
                return Reply::ready(Err(faults::unverified(&server)));
            }
            inner.by_newest(call, |catalog, view, call| inner.answer(catalog, view, call))
        };
        Reply::new(stream::once(reply).flatten())
    }

    fn builder(&self) -> MutexGuard<'_, Builder> {
        self.builder.lock()
    }

    /// Publishes a new snapshot, if there is one.
    fn swap(&self, catalog: Option<Catalog>) {
        if let Some(catalog) = catalog {
            self.now.store(Arc::new(catalog));
            self.changed.send_modify(|count| *count += 1);
        }
        self.rebuilt.send_modify(|count| *count += 1);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.replaced.notify_one();
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").field("options", &self.inner.shared.options).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
