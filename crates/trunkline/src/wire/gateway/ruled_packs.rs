//! The built-in tools behind a gateway of their own, so that roles and rules decide who may use
//! which of them, and operators about calls that wait. Their names stay as they are, and the rules
//! match these names.

use super::{
    SETTLE, approvals,
    explain::{self, Explainer},
    operate::answer,
    rules, upstreams,
};
use crate::{
    environment::Environment,
    failure::Failure,
    wire::{packs::Kit, serve},
};
use futures_util::future::FutureExt;
use http::StatusCode;
use parking_lot::Mutex;
use serde_json::json;
use std::sync::Arc;
use trunkline_config::{Layered, Loaded, Reach, Server, Settings, Unusable};
use trunkline_gateway::{
    Gateway, GatewayOptions,
    approval::Approvals,
    audit::Trail,
    catalog::Rules,
    limit::Rates,
    upstream::{InProcess, Start, Upstream},
    view::{Naming, ViewRules},
};
use trunkline_protocol::{ServerName, message::Implementation};
use trunkline_serve::{Command, Control};

/// The name of the only server. Clients see it in addresses only.
const NAME: &str = "trunkline";

/// A gateway with one server: the built-in tools.
pub(crate) struct RuledPacks {
    pub(crate) gateway: Gateway,
    environment: Environment,
    upstream: Arc<Upstream>,
    /// The settings, and where each was written, for explanations.
    now: Mutex<(Settings, Layered)>,
}

impl RuledPacks {
    /// Must be called within a runtime.
    pub(crate) fn start(
        kit: &Kit,
        loaded: &Loaded,
        environment: &Environment,
        approvals: Approvals,
    ) -> Result<Self, Failure> {
        let (name, settings) = (name(), &loaded.settings);
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
        options.approvals = Some(approvals);
        let gateway = Gateway::new(options).map_err(|bad| Failure::usage(bad.to_string()))?;
        upstream.start();
        let now = Mutex::new((settings.clone(), loaded.layered.clone()));
        Ok(Self { gateway, environment: environment.clone(), upstream, now })
    }

    /// Applies changed roles. Invalid ones change nothing.
    pub(crate) fn reload(&self, loaded: &Loaded) -> Result<(), Failure> {
        self.gateway
            .replace(&rules_of(&loaded.settings), vec![self.upstream.clone()])
            .map_err(|bad| Failure::usage(bad.to_string()))?;
        *self.now.lock() = (loaded.settings.clone(), loaded.layered.clone());
        Ok(())
    }

    pub(super) fn upstream(&self) -> &Arc<Upstream> {
        &self.upstream
    }

    /// The gateway and the settings that hold now.
    pub(super) fn explainer(&self) -> Explainer {
        let (settings, layered) = self.now.lock().clone();
        Explainer { gateway: self.gateway.clone(), settings, layered, environment: self.environment.clone() }
    }

    /// The commands below `/control/` that need no servers. Decisions are recorded in the trail.
    pub(crate) fn control(self: &Arc<Self>, trail: Option<&Trail>, rates: Option<Arc<Rates>>) -> Control {
        approvals::record(&self.gateway, trail);
        let ruled = self.clone();
        Arc::new(move |command: Command<'_>| {
            if approvals::concerns(&command) {
                return approvals::command(&ruled.gateway, &ruled.environment, &command);
            }
            if command.path == explain::PATH {
                return ruled.explainer().command(&command, rates.clone());
            }
            let error = json!({"error": "this command needs configured servers"});
            std::future::ready(answer(StatusCode::NOT_FOUND, &error)).boxed()
        })
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
