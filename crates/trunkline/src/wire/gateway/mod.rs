//! Builds the gateway from the configuration, and applies changes while it runs.

mod adapter;
pub(crate) mod approvals;
mod by_configuration;
pub(crate) mod explain;
mod harmless;
mod kept_lists;
mod locked;
mod login_records;
pub(crate) mod operate;
mod personal;
mod policy;
mod ruled_packs;
mod rules;
mod upstreams;

pub(crate) use self::{by_configuration::ByConfiguration, ruled_packs::RuledPacks};
use self::{harmless::Harmless, kept_lists::KeptLists, login_records::LoginRecords};
use super::{
    carry::CarriedParts, documents::DocumentParts, lineage::Lineage, observed::Observed, sign_in::LoginDesk,
};
use crate::{
    containment,
    environment::{self, Environment},
    failure::Failure,
};
use parking_lot::Mutex;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use trunkline_config::{Layered, Loaded, Reach, ServerChanges, Settings};
use trunkline_gateway::{
    Gateway, GatewayOptions,
    approval::Approvals,
    catalog::Rules,
    gateway::{PersonalOptions, Source},
    metrics::UpstreamFigures,
    policy::Policy,
    status::{ConfigStatus, Started, StatusPage},
    trace::Tracer,
    upstream::{Offer, Status, Upstream},
};
use trunkline_protocol::{Caller, ServerName, message::Implementation};
use trunkline_serve::Carry;
use trunkline_store::Store;

/// Maximum time that a list request waits while no server has answered yet.
const SETTLE: Duration = Duration::from_secs(5);

/// A running gateway and its upstreams.
pub(crate) struct Running {
    pub(crate) gateway: Gateway,
    environment: Environment,
    lineage: Lineage,
    instance: Arc<str>,
    started: Started,
    observed: Observed,
    harmless: Harmless,
    lists: KeptLists,
    carried: CarriedParts,
    desk: LoginDesk,
    records: LoginRecords,
    store: Arc<dyn Store>,
    now: Mutex<Now>,
}

/// The state that a reload replaces.
struct Now {
    settings: Settings,
    /// The file and line of each setting, for explanations.
    layered: Layered,
    upstreams: BTreeMap<ServerName, Arc<Upstream>>,
    config: ConfigStatus,
}

impl Running {
    /// Builds the gateway and starts its upstreams, without waiting for them.
    pub(crate) fn start(
        loaded: &Loaded,
        environment: &Environment,
        tracer: Option<Tracer>,
        approvals: Approvals,
        store: Arc<dyn Store>,
    ) -> Result<Arc<Self>, Failure> {
        let running = Self::build(loaded, environment, tracer, approvals, store)?;
        for upstream in running.upstreams() {
            upstream.start();
        }
        Ok(running)
    }

    /// Builds the gateway. No server is started.
    pub(crate) fn build(
        loaded: &Loaded,
        environment: &Environment,
        tracer: Option<Tracer>,
        approvals: Approvals,
        store: Arc<dyn Store>,
    ) -> Result<Arc<Self>, Failure> {
        let files: Vec<String> = loaded.read.iter().map(|path| path.display().to_string()).collect();
        let inherited = environment.get_filled(environment::LINEAGE);
        let lineage = Lineage::enter(inherited, &files.join(", "))
            .map_err(|looped| Failure::usage(looped.to_string()))?;
        let instance: Arc<str> = uuid::Uuid::new_v4().to_string().into();
        let settings = &loaded.settings;
        let (observed, harmless) = (Observed::new(tracer), Harmless::default());
        let lists = KeptLists::find(environment);
        let (desk, records) = (LoginDesk::new(settings.limits.login_for), LoginRecords::default());
        let maker = upstreams::Maker {
            environment,
            lineage: &lineage,
            instance: &instance,
            observed: &observed,
            harmless: &harmless,
            lists: &lists,
            desk: &desk,
            records: &records,
            guarded: &loaded.guarded,
            private: &loaded.private,
            documents: DocumentParts { settings: &settings.documents, store: &store, environment },
        };
        let upstreams = maker.all(settings)?;
        harmless.configure(settings);
        let carried = CarriedParts::default();
        carried.configure(settings);
        let identity = Implementation::new("trunkline", env!("CARGO_PKG_VERSION"));
        let mut options = GatewayOptions::new(identity);
        options.servers = sources(&upstreams);
        options.rules = rules::of(settings);
        locked::apply(loaded, &mut options.rules)?;
        options.grace = settings.limits.list_grace;
        options.settle = SETTLE.max(options.grace);
        options.instance = Some(instance.clone());
        options.states = super::serve::states(settings)?;
        options.approvals = Some(approvals);
        options.personal = PersonalOptions {
            most: super::serve::size(settings.limits.personal_catalogs),
            idle: settings.limits.personal_idle,
        };
        let gateway = Gateway::new(options).map_err(|bad| Failure::usage(bad.to_string()))?;
        let config = ConfigStatus::default().loaded().waiting(waiting(loaded));
        let now = Now { settings: settings.clone(), layered: loaded.layered.clone(), upstreams, config };
        Ok(Arc::new(Self {
            gateway,
            environment: environment.clone(),
            lineage,
            instance,
            started: Started::now(),
            observed,
            harmless,
            lists,
            carried,
            desk,
            records,
            store,
            now: Mutex::new(now),
        }))
    }

    /// Applies new settings completely or not at all. Unchanged servers keep running; calls in
    /// flight stay with the server they were sent to.
    pub(crate) fn reload(&self, loaded: &Loaded) -> Result<ServerChanges, Failure> {
        let settings = &loaded.settings;
        let mut now = self.now();
        if let Some(why) = lost(&now.settings, settings) {
            return Err(Failure::usage(why));
        }
        let changes = now.settings.server_changes(settings);
        let maker = upstreams::Maker {
            environment: &self.environment,
            lineage: &self.lineage,
            instance: &self.instance,
            observed: &self.observed,
            harmless: &self.harmless,
            lists: &self.lists,
            desk: &self.desk,
            records: &self.records,
            guarded: &loaded.guarded,
            private: &loaded.private,
            documents: DocumentParts {
                settings: &settings.documents,
                store: &self.store,
                environment: &self.environment,
            },
        };
        let mut upstreams = now.upstreams.clone();
        let mut gone: Vec<_> = changes.removed.iter().filter_map(|name| upstreams.remove(name)).collect();
        let mut fresh = Vec::new();
        for name in changes.added.iter().chain(&changes.changed) {
            let upstream = maker.one(&settings.servers[name])?;
            fresh.push(upstream.clone());
            if let Some(before) = upstreams.insert(name.clone(), upstream.clone()) {
                // Until the new server is ready, calls are routed by the lists of its predecessor.
                if let Some(offer) = before.offer() {
                    upstream.recall(Offer { stale: true, ..(*offer).clone() });
                }
                if before.is_halted() {
                    upstream.stay_halted();
                }
                gone.push(before);
            }
        }
        // The catalogs of callers drop the upstreams of their identities, whose calls go on.
        let personal: Vec<_> = gone.iter().flat_map(|upstream| upstream.identities()).collect();
        gone.extend(personal);
        let mut rules = rules::of(settings);
        locked::apply(loaded, &mut rules)?;
        // Before the new servers can be called: no request may reach them without its headers.
        self.carried.configure(settings);
        self.gateway.replace(&rules, sources(&upstreams)).map_err(|bad| Failure::usage(bad.to_string()))?;
        fresh.iter().for_each(Upstream::start);
        self.harmless.configure(settings);
        self.desk.configure(settings.limits.login_for);
        now.upstreams = upstreams;
        now.settings = settings.clone();
        now.layered = loaded.layered.clone();
        now.config = now.config.loaded().waiting(waiting(loaded));
        self.observed.forget(|name| !settings.servers.contains_key(name));
        drop(now);
        retire(gone);
        Ok(changes)
    }

    /// Records a refused reload, which the status page shows until one succeeds.
    pub(crate) fn refuse(&self, why: &str) {
        let mut now = self.now();
        now.config = now.config.refused(why);
    }

    /// Stops all servers.
    pub(crate) async fn stop(&self) {
        let upstreams = self.upstreams();
        futures_util::future::join_all(upstreams.iter().map(|upstream| upstream.stop())).await;
    }

    /// Adds to callers the parts of their requests that servers need.
    pub(crate) fn carry(&self) -> Carry {
        self.carried.carry()
    }

    /// The logins of callers that are under way.
    pub(crate) fn desk(&self) -> &LoginDesk {
        &self.desk
    }

    /// The records of logins, which need a trail.
    pub(crate) fn login_records(&self) -> &LoginRecords {
        &self.records
    }

    /// True if a tool, by its name in a view, is known to be read-only.
    pub(crate) fn is_harmless(&self, view: Option<&str>, tool: &str) -> bool {
        self.harmless.has(view, tool)
    }

    pub(crate) fn upstreams(&self) -> Vec<Arc<Upstream>> {
        self.now().upstreams.values().cloned().collect()
    }

    /// The content of the status page, as far as the caller may see it.
    pub(crate) fn status(&self, caller: &Caller) -> serde_json::Value {
        let now = self.now();
        let mut gateway = self.started.status("trunkline", env!("CARGO_PKG_VERSION"));
        containment::describe(&mut gateway);
        let page = StatusPage {
            gateway,
            config: now.config.clone(),
            upstreams: now.upstreams.values().map(|upstream| self.status_of(upstream)).collect(),
            catalog: self.gateway.catalog_report(),
        };
        drop(now);
        let visible = (!self.gateway.may_operate(caller)).then(|| self.gateway.visible_catalog(caller));
        page.to_json(visible)
    }

    /// The status of an upstream. Its error may repeat what we sent, so known secrets are masked.
    fn status_of(&self, upstream: &Upstream) -> Status {
        let mut status = upstream.status();
        if let Some(error) = &mut status.last_error {
            error.text = self.environment.concealed.hide(&error.text);
        }
        status
    }

    /// The metrics of all upstreams.
    pub(crate) fn figures(&self) -> Vec<UpstreamFigures> {
        self.upstreams().iter().map(|upstream| self.observed.figures(upstream)).collect()
    }

    fn now(&self) -> parking_lot::MutexGuard<'_, Now> {
        self.now.lock()
    }
}

/// The reason why a server that is in use now could not be used any more. Such settings are
/// refused, so that a secret that is being replaced does not stop a server.
fn lost(now: &Settings, next: &Settings) -> Option<String> {
    let is_used = |name: &ServerName| {
        now.servers.get(name).is_some_and(|server| !matches!(server.reach, Reach::Unusable(_)))
    };
    next.servers.iter().find_map(|(name, server)| match &server.reach {
        Reach::Unusable(why) if is_used(name) => Some(format!("server `{name}`: {}", why.reason)),
        _ => None,
    })
}

/// The path of the found file that awaits approval, and the names of its servers.
pub(crate) fn waiting(loaded: &Loaded) -> Option<(String, Vec<String>)> {
    loaded.waiting.as_ref().map(|found| (found.path.display().to_string(), found.servers()))
}

/// The roles of callers and the rules, checked.
pub(crate) fn policy(settings: &Settings) -> Result<Policy, Failure> {
    Policy::new(&rules::policy_rules(settings)).map_err(|bad| Failure::usage(bad.to_string()))
}

/// The rules for one server and its callers, for commands that reach it by its name.
pub(crate) fn rules_for(settings: &Settings, server: &ServerName) -> Rules {
    let Rules { mut servers, policy, .. } = rules::of(settings);
    servers.retain(|name, _| name == server);
    Rules { servers, policy, ..Rules::default() }
}

fn sources(upstreams: &BTreeMap<ServerName, Arc<Upstream>>) -> Vec<Arc<dyn Source>> {
    upstreams.values().map(|upstream| upstream.clone() as Arc<dyn Source>).collect()
}

/// Grace period in which a call that was routed before the reload may still be sent.
const GRACE: Duration = Duration::from_secs(1);
/// Maximum time that calls to a removed server may continue.
const RETIREMENT: Duration = Duration::from_mins(10);

/// Drains calls in flight before a removed server is stopped.
fn retire(gone: Vec<Arc<Upstream>>) {
    for upstream in gone {
        tokio::spawn(async move {
            tokio::time::sleep(GRACE).await;
            upstream.drain(RETIREMENT).await;
        });
    }
}
