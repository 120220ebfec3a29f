//! The content of a server: the configured servers, or the built-in tool packs.

use super::{Args, OfferArgs};
use crate::{
    containment,
    failure::Failure,
    telemetry::Telemetry,
    wire::{
        gate::RoleScopes,
        gateway::{RuledPacks, Running, operate},
        packs::{Kit, Packs},
        sign_in,
    },
};
use parking_lot::Mutex;
use std::{net::SocketAddr, path::PathBuf, sync::Arc};
use trunkline_config::Tls;
use trunkline_gateway::{
    Gateway,
    audit::{ReadOnly, Trail},
    catalog::CatalogReport,
    cut::CutResults,
    limit::{Rates, ToolNames},
    metrics,
    status::{ConfigStatus, Started, StatusPage},
};
use trunkline_protocol::{Caller, Handler};
use trunkline_serve::{Control, Page, ServeOptions};
use trunkline_store::Store;

/// The status of the configuration, which changes while the process runs.
pub(crate) type SharedConfig = Arc<Mutex<ConfigStatus>>;

/// The handler's content: a gateway, or the built-in tool packs.
pub(crate) enum Offer {
    Packs(PackOffer),
    Servers(Arc<Running>),
}

/// The built-in tools.
pub(crate) struct PackOffer {
    pub(crate) kit: Arc<Kit>,
    pub(crate) config: SharedConfig,
    /// `None` if there are neither roles nor policy rules: every caller may use every tool.
    pub(crate) ruled: Option<Arc<RuledPacks>>,
}

impl Offer {
    /// The innermost handler, below all layers of the stack.
    pub(super) fn handler(&self) -> Arc<dyn Handler> {
        match self {
            Self::Packs(packs) => match &packs.ruled {
                Some(ruled) => Arc::new(ruled.gateway.clone()),
                None => Arc::new(packs.kit.toolbox.clone()),
            },
            Self::Servers(running) => Arc::new(running.gateway.clone()),
        }
    }

    /// The gateway in front of the tools; `None` if every caller may use every tool.
    pub(super) fn gateway(&self) -> Option<Gateway> {
        match self {
            Self::Packs(packs) => packs.ruled.as_ref().map(|ruled| ruled.gateway.clone()),
            Self::Servers(running) => Some(running.gateway.clone()),
        }
    }

    /// The place for the rest of long results; `None` if no setting limits them. The built-in tools
    /// have limits of their own.
    pub(super) fn cut_results(&self, store: &Arc<dyn Store>) -> Option<CutResults> {
        matches!(self, Self::Servers(_)).then(|| CutResults::new(store.clone()))
    }

    /// Returns the predicate for tools that are known to be read-only.
    pub(super) fn read_only(&self) -> ReadOnly {
        match self {
            Self::Packs(packs) => {
                let kit = packs.kit.clone();
                Arc::new(move |_: Option<&str>, tool: &str| kit.read_only.contains(tool))
            }
            Self::Servers(running) => {
                let running = running.clone();
                Arc::new(move |view: Option<&str>, tool: &str| running.is_harmless(view, tool))
            }
        }
    }

    /// The names by which the calls of tools are counted.
    pub(super) fn tool_names(&self) -> ToolNames {
        match self {
            Self::Packs(..) => ToolNames::default(),
            Self::Servers(running) => {
                let gateway = running.gateway.clone();
                ToolNames::new(move |view, tool| gateway.own_name(view, tool))
            }
        }
    }

    /// The token scopes that would give a role.
    pub(super) fn role_scopes(&self) -> Option<RoleScopes> {
        let gateway = self.gateway()?;
        Some(Arc::new(move |caller: &Caller| gateway.helpful_scopes(caller)))
    }

    /// The commands that operators may give, each recorded in the trail.
    pub(super) fn control(&self, trail: Option<&Trail>, rates: Option<Arc<Rates>>) -> Option<Control> {
        match self {
            Self::Packs(packs) => packs.ruled.as_ref().map(|ruled| ruled.control(trail, rates)),
            Self::Servers(running) => {
                if let Some(trail) = trail {
                    running.login_records().write_to(trail.clone());
                }
                Some(operate::control(running.clone(), trail.cloned(), rates))
            }
        }
    }

    /// Sets the address under which browsers reach the server: the configured one, or the one that
    /// it listens on, if that is a single one.
    pub(super) fn reached_at(&self, public_url: Option<&str>, address: SocketAddr, tls: Option<&Tls>) {
        let Self::Servers(running) = self else { return };
        let scheme = if tls.is_some() { "https" } else { "http" };
        let own = (!address.ip().is_unspecified()).then(|| format!("{scheme}://{address}"));
        if let Some(origin) = public_url.map(str::to_owned).or(own) {
            running.desk().open_at(origin);
        }
    }

    /// Adds the status page and the metrics of the upstreams to the HTTP endpoints. Both show a
    /// caller no more than its roles allow.
    pub(super) fn add_pages(&self, options: &mut ServeOptions, telemetry: &Telemetry) {
        let ours = telemetry.metrics();
        if let Some(gateway) = self.gateway() {
            let roles = gateway.clone();
            options.sees_executions = Some(Arc::new(move |caller: &Caller| roles.is_operator(caller)));
            options.may_operate = Some(Arc::new(move |caller: &Caller| gateway.may_operate(caller)));
        }
        let running = match self {
            Self::Servers(running) => running,
            Self::Packs(packs) => {
                options.more_metrics = Some(Arc::new(move |_: &Caller| ours()));
                options.pages.push(packs.status_page());
                return;
            }
        };
        options.carry = Some(running.carry());
        options.browser = Some(sign_in::pages(running.desk().clone()));
        let gateway = running.gateway.clone();
        options.server_of = Some(Arc::new(move |caller: &Caller, view: Option<&str>, tool: &str| {
            gateway.server_of(caller, view, tool).map(|server| server.to_string())
        }));
        let counted = running.clone();
        options.more_metrics = Some(Arc::new(move |_: &Caller| {
            let drift = metrics::drift(&counted.gateway.catalog_report());
            metrics::render(&counted.figures()) + &drift + &ours()
        }));
        let told = running.clone();
        options.ready_details = Some(Arc::new(move |caller: &Caller| {
            let may_see = told.gateway.may_operate(caller);
            if may_see { metrics::readiness(&told.figures()) } else { String::new() }
        }));
        let running = running.clone();
        options.pages.push(Page {
            path: "/status",
            content_type: "application/json",
            render: Arc::new(move |caller| running.status(caller).to_string()),
        });
    }
}

impl PackOffer {
    /// The status page of a process without upstreams.
    fn status_page(&self) -> Page {
        let (tools, config, ruled) = (self.kit.tools, self.config.clone(), self.ruled.clone());
        let started = Started::now();
        let render = move |caller: &Caller| {
            let mut gateway = started.status("trunkline", env!("CARGO_PKG_VERSION"));
            containment::describe(&mut gateway);
            let page = StatusPage {
                gateway,
                config: config.lock().clone(),
                upstreams: Vec::new(),
                catalog: CatalogReport::of_tools("trunkline", tools),
            };
            let restricts = |ruled: &&Arc<RuledPacks>| !ruled.gateway.may_operate(caller);
            let visible = ruled.as_ref().filter(restricts).map(|ruled| ruled.gateway.visible_catalog(caller));
            page.to_json(visible).to_string()
        };
        Page { path: "/status", content_type: "application/json", render: Arc::new(render) }
    }
}

impl From<&Args> for Packs {
    fn from(args: &Args) -> Self {
        let offer = &args.offer;
        Self {
            roots: if args.roots.is_empty() { vec![PathBuf::from(".")] } else { args.roots.clone() },
            write: offer.allow_write,
            run: offer.allow_run,
            network: offer.allow_network,
            compatibility: offer.compatibility,
            github: offer.services.github.clone(),
            gitlab: offer.services.gitlab.clone(),
            guarded: Vec::new(),
            private: Vec::new(),
        }
    }
}

impl OfferArgs {
    /// Refuses pack options if servers are configured: packs are then configured as servers, with
    /// their permissions in the configuration.
    pub(super) fn refuse_beside_servers(&self, roots: &[PathBuf]) -> Result<(), Failure> {
        let given = [
            ("--root", !roots.is_empty()),
            ("--allow-write", self.allow_write),
            ("--allow-run", self.allow_run),
            ("--allow-network", self.allow_network),
            ("--compatibility", self.compatibility),
            ("--github", !self.services.github.is_empty()),
            ("--gitlab", !self.services.gitlab.is_empty()),
        ];
        match given.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => Err(Failure::usage(format!(
                "{option} is for the built-in tools, which are not served if servers are configured"
            ))
            .hint("add a server with `\"type\": \"builtin\"` to the configuration, with its permissions")),
        }
    }
}
