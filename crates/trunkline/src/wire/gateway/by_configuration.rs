//! A gateway that decides and explains calls by the configuration, without serving anybody.

use super::{RuledPacks, Running, approvals, explain::Explainer};
use crate::{
    environment::Environment,
    failure::Failure,
    wire::{documents::DocumentParts, packs::Packs, store},
};
use std::{path::PathBuf, sync::Arc, time::Duration};
use trunkline_client::resilience::timeout;
use trunkline_config::{Loaded, Reach};
use trunkline_gateway::{Gateway, upstream::Upstream};
use trunkline_protocol::ServerName;

/// Time limit for a pack to list its tools.
const PATIENCE: Duration = Duration::from_secs(30);

/// The configured servers, or the built-in tools if there are none, as `serve` would offer them.
pub(crate) enum ByConfiguration {
    Servers(Arc<Running>),
    Packs(Box<RuledPacks>),
}

impl ByConfiguration {
    /// Only our own packs are started; of other servers, the lists of their last run are known, if
    /// any.
    pub(crate) async fn start(loaded: &Loaded, environment: &Environment) -> Result<Self, Failure> {
        let store = store::open(&loaded.settings)?;
        let approvals = approvals::new(&loaded.settings, store.clone(), approvals::Operators::Reachable);
        if loaded.settings.servers.is_empty() {
            // The flags of `serve` are not known here, so all tools are there.
            let packs = Packs {
                roots: vec![PathBuf::from(".")],
                write: true,
                run: true,
                network: true,
                compatibility: true,
                ..Packs::default()
            };
            let settings = &loaded.settings.documents;
            let parts = DocumentParts { settings, store: &store, environment };
            let kit = packs.all(&packs.open()?, environment, &parts)?;
            let packs = RuledPacks::start(&kit, loaded, environment, approvals)?;
            listed(packs.upstream()).await;
            packs.gateway.refresh().await;
            return Ok(Self::Packs(Box::new(packs)));
        }
        let running = Running::build(loaded, environment, None, approvals, store)?;
        // One that is unusable has nothing to start, and the attempt tells why.
        let is_own = |name: &ServerName| {
            matches!(loaded.settings.servers[name].reach, Reach::Builtin(_) | Reach::Unusable(_))
        };
        let upstreams = running.upstreams();
        let own = upstreams.iter().filter(|upstream| is_own(upstream.name()));
        futures_util::future::join_all(own.map(|upstream| async move {
            upstream.start();
            listed(upstream).await;
        }))
        .await;
        running.gateway.refresh().await;
        Ok(Self::Servers(running))
    }

    pub(crate) fn gateway(&self) -> &Gateway {
        match self {
            Self::Servers(running) => &running.gateway,
            Self::Packs(packs) => &packs.gateway,
        }
    }

    pub(crate) fn explainer(&self) -> Explainer {
        match self {
            Self::Servers(running) => running.explainer(),
            Self::Packs(packs) => packs.explainer(),
        }
    }

    pub(crate) async fn stop(&self) {
        match self {
            Self::Servers(running) => running.stop().await,
            Self::Packs(packs) => packs.stop().await,
        }
    }
}

/// Waits until a started server has listed its tools. One that does not answer in time stays
/// unknown.
async fn listed(upstream: &Arc<Upstream>) {
    let mut versions = upstream.watch();
    upstream.wake();
    let heard = async {
        while upstream.offer().is_none() && !upstream.has_failed() && versions.changed().await.is_ok() {}
    };
    timeout(PATIENCE, heard).await;
}
