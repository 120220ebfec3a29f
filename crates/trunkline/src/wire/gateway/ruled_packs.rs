//! The built-in tools behind a gateway of their own, so that roles decide who may use which of
//! them. Their names stay as they are, and the rules of roles match these names.

use super::{SETTLE, rules, upstreams};
use crate::{
    failure::Failure,
    wire::{packs::Kit, serve},
};
use std::sync::Arc;
use trunkline_config::{Reach, Server, Settings, Unusable};
use trunkline_gateway::{
    Gateway, GatewayOptions,
    catalog::Rules,
    upstream::{InProcess, Start, Upstream},
    view::{Naming, ViewRules},
};
use trunkline_protocol::{ServerName, message::Implementation};

/// The name of the only server. Clients see it in addresses only.
const NAME: &str = "trunkline";

/// A gateway with one server: the built-in tools.
pub(crate) struct RuledPacks {
    pub(crate) gateway: Gateway,
    upstream: Arc<Upstream>,
}

impl RuledPacks {
    /// Must be called within a runtime.
    pub(crate) fn start(kit: &Kit, settings: &Settings) -> Result<Self, Failure> {
        let name = name();
        let mut options = upstreams::options(&server(&name, settings)).map_err(Failure::usage)?;
        options.idle = None;
        options.start = Start::AtOnce;
        let options = options.checked().map_err(|error| Failure::usage(error.to_string()))?;
        let connect = InProcess(Arc::new(kit.toolbox.clone()));
        let upstream = Upstream::new(name, Arc::new(connect), options);
        let mut options = GatewayOptions::new(Implementation::new(NAME, env!("CARGO_PKG_VERSION")));
        options.servers = vec![upstream.clone()];
        options.rules = rules_of(settings);
        options.settle = SETTLE;
        options.states = serve::states(settings)?;
        let gateway = Gateway::new(options).map_err(|bad| Failure::usage(bad.to_string()))?;
        upstream.start();
        Ok(Self { gateway, upstream })
    }

    /// Applies changed roles. Invalid ones change nothing.
    pub(crate) fn reload(&self, settings: &Settings) -> Result<(), Failure> {
        self.gateway
            .replace(&rules_of(settings), vec![self.upstream.clone()])
            .map_err(|bad| Failure::usage(bad.to_string()))
    }

    pub(crate) async fn stop(&self) {
        self.upstream.stop().await;
    }
}

fn rules_of(settings: &Settings) -> Rules {
    let main = ViewRules { naming: Naming::Bare, ..ViewRules::default() };
    Rules { main, policy: rules::policy_without_prefix(settings, NAME), ..Rules::default() }
}

/// The settings of a server that the configuration does not mention: the defaults.
fn server(name: &ServerName, settings: &Settings) -> Server {
    Server {
        name: name.clone(),
        // Not read: the connector is given.
        reach: Reach::Unusable(Unusable { reason: String::new() }),
        options: settings.defaults.clone(),
        allow: vec!["*".to_owned()],
        deny: Vec::new(),
        tools: Vec::new(),
    }
}

fn name() -> ServerName {
    NAME.parse().expect("a valid name of a server")
}
