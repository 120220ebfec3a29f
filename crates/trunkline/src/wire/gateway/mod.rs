//! The gateway as the configuration describes it, and as it changes while it runs.

mod rules;
pub(in crate::wire) mod upstreams;

use super::lineage::Lineage;
use crate::{
    environment::{self, Environment},
    failure::Failure,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use trunkline_config::{Loaded, ServerChanges, Settings};
use trunkline_gateway::{Gateway, GatewayOptions, gateway::Source, upstream::Upstream};
use trunkline_protocol::{ServerName, message::Implementation};

/// How long lists wait for servers that have just been started.
const SETTLE: Duration = Duration::from_secs(5);

/// A gateway and the servers behind it.
pub(crate) struct Running {
    pub(crate) gateway: Gateway,
    environment: Environment,
    lineage: Lineage,
    instance: Arc<str>,
    started: Instant,
    now: Mutex<Now>,
}

/// What holds until the next reload.
struct Now {
    settings: Settings,
    upstreams: BTreeMap<ServerName, Arc<Upstream>>,
    /// Counts reloads.
    generation: u64,
    /// Why the last reload changed nothing.
    refused: Option<String>,
}

impl Running {
    /// Opens the door; servers are reached behind it.
    pub(crate) fn start(loaded: &Loaded, environment: &Environment) -> Result<Arc<Self>, Failure> {
        let files: Vec<String> = loaded.read.iter().map(|path| path.display().to_string()).collect();
        let inherited = environment.get_filled(environment::LINEAGE);
        let lineage = Lineage::enter(inherited, &files.join(", "))
            .map_err(|looped| Failure::usage(looped.to_string()))?;
        let instance: Arc<str> = uuid::Uuid::new_v4().to_string().into();
        let settings = &loaded.settings;
        let maker = upstreams::Maker { environment, lineage: &lineage, instance: &instance };
        let upstreams = maker.all(settings)?;
        let identity = Implementation::new("trunkline", env!("CARGO_PKG_VERSION"));
        let mut options = GatewayOptions::new(identity);
        options.servers = sources(&upstreams);
        options.rules = rules::of(settings);
        options.settle = SETTLE;
        options.instance = Some(instance.clone());
        let gateway = Gateway::new(options).map_err(|bad| Failure::usage(bad.to_string()))?;
        for upstream in upstreams.values() {
            upstream.start();
        }
        let now = Now { settings: settings.clone(), upstreams, generation: 1, refused: None };
        Ok(Arc::new(Self {
            gateway,
            environment: environment.clone(),
            lineage,
            instance,
            started: Instant::now(),
            now: Mutex::new(now),
        }))
    }

    /// Takes other settings, whole or not at all. Servers that did not change go on; calls under way keep the server they went to.
    pub(crate) fn reload(&self, settings: &Settings) -> Result<ServerChanges, Failure> {
        let mut now = self.now();
        let changes = now.settings.server_changes(settings);
        let maker = upstreams::Maker {
            environment: &self.environment,
            lineage: &self.lineage,
            instance: &self.instance,
        };
        let mut upstreams = now.upstreams.clone();
        let mut gone = Vec::new();
        for name in changes.removed.iter().chain(&changes.changed) {
            gone.extend(upstreams.remove(name));
        }
        let mut fresh = Vec::new();
        for name in changes.added.iter().chain(&changes.changed) {
            let upstream = maker.one(&settings.servers[name])?;
            fresh.push(upstream.clone());
            upstreams.insert(name.clone(), upstream);
        }
        self.gateway
            .replace(&rules::of(settings), sources(&upstreams))
            .map_err(|bad| Failure::usage(bad.to_string()))?;
        fresh.iter().for_each(Upstream::start);
        now.upstreams = upstreams;
        now.settings = settings.clone();
        now.generation += 1;
        now.refused = None;
        drop(now);
        retire(gone);
        Ok(changes)
    }

    /// A reload was refused; the status tells it until one succeeds.
    pub(crate) fn refuse(&self, why: &str) {
        self.now().refused = Some(why.to_owned());
    }

    /// Ends all servers.
    pub(crate) async fn stop(&self) {
        let upstreams: Vec<_> = self.now().upstreams.values().cloned().collect();
        futures_util::future::join_all(upstreams.iter().map(|upstream| upstream.stop())).await;
    }

    /// The names of the servers.
    pub(crate) fn servers(&self) -> Vec<String> {
        self.now().upstreams.keys().map(ToString::to_string).collect()
    }

    pub(crate) fn upstreams(&self) -> Vec<Arc<Upstream>> {
        self.now().upstreams.values().cloned().collect()
    }

    /// The truth about everything behind the door, for whoever runs it.
    pub(crate) fn status(&self) -> serde_json::Value {
        let now = self.now();
        let upstreams: Vec<_> = now.upstreams.values().map(|upstream| upstream.status()).collect();
        serde_json::json!({
            "name": "trunkline",
            "version": env!("CARGO_PKG_VERSION"),
            "uptimeMs": u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "configuration": {"generation": now.generation, "refused": now.refused},
            "upstreams": upstreams,
            "catalog": self.gateway.catalog_report(),
        })
    }

    fn now(&self) -> std::sync::MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sources(upstreams: &BTreeMap<ServerName, Arc<Upstream>>) -> Vec<Arc<dyn Source>> {
    upstreams.values().map(|upstream| upstream.clone() as Arc<dyn Source>).collect()
}

/// How long calls to a server that is no longer wanted may go on.
const RETIREMENT: Duration = Duration::from_mins(10);

/// Lets calls under way finish before a server that is no longer wanted is ended.
fn retire(gone: Vec<Arc<Upstream>>) {
    for upstream in gone {
        tokio::spawn(async move { upstream.retire(RETIREMENT).await });
    }
}
