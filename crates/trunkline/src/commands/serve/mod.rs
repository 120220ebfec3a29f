//! `serve`: serves the configured servers as one, or the built-in tools for a directory, over HTTP
//! or stdio.

mod banner;
mod listen;
mod offer;
mod reload;

use super::{Context, Ending};
use crate::{
    args::{EraChoice, parse_listen},
    failure::Failure,
    listening, output,
    runtime::{Engine, Threads},
    stop::Stop,
    telemetry::{Telemetry, TelemetryArgs},
    wire::{
        documents::DocumentParts,
        flags,
        gateway::{
            self, RuledPacks, Running,
            approvals::{self, Operators},
        },
        hooks, memory,
        packs::Packs,
        serve as wire, settings,
        stack::Stack,
        store,
    },
};
use offer::{Offer, PackOffer};
use std::{
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    sync::Arc,
};
use tokio::sync::watch;
use trunkline_config::Loaded;
use trunkline_gateway::limit::Rates;
use trunkline_protocol::Handler;
use trunkline_serve::{ServeOptions, Shutdown, Workers, serve_stdio};
use trunkline_store::Store;
use trunkline_transport::stdio::{standard_input, standard_output};

/// Default listen address.
pub(crate) const DEFAULT_ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), trunkline_config::DEFAULT_PORT);

/// Serve the configured servers as one, or tools for a directory
///
/// If `trunkline.json` configures servers, they are served as one endpoint: their tools as
/// `<server>_<tool>` at `/mcp`, a single server at `/mcp/server/<name>`, each configured view at
/// `/mcp/<view>`. Otherwise, serves read-only tools for the current directory (files, git, CI). By
/// default listens on 127.0.0.1 and accepts programs of this machine only. Clients of every
/// protocol revision are served; those of 2024-11-05 connect to `/sse`. Changes of the
/// configuration are applied without a restart.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Read this configuration file instead of the nearest `trunkline.json` in the current
    /// directory or above it; your own file still counts
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Listen on this address, or on this port of 127.0.0.1 (0: any free port); ignored if systemd
    /// passes a socket [default: 127.0.0.1:8425]
    #[arg(long, value_name = "ADDRESS", value_parser = parse_listen, conflicts_with = "stdio")]
    pub(crate) listen: Option<SocketAddr>,
    /// Serve on standard input and output instead of HTTP
    #[arg(long)]
    pub(crate) stdio: bool,
    /// Serve this directory instead of the current one; may be repeated
    #[arg(long = "root", value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) offer: OfferArgs,
    /// Serve only clients of this protocol era
    #[arg(long, value_name = "ERA", default_value = "auto")]
    pub(crate) era: EraChoice,
    /// Also answer clients of older revisions that send no `initialize`
    #[arg(long)]
    pub(crate) no_handshake: bool,
    /// Answer failed tool calls with JSON-RPC errors (-32601, -32602, -32603, -32000) instead of
    /// results with `isError`
    #[arg(long, value_name = "FORM")]
    pub(crate) errors: Option<ErrorsChoice>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
    #[command(flatten)]
    pub(crate) record: RecordArgs,
    #[command(flatten)]
    pub(crate) telemetry: TelemetryArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ErrorsChoice {
    /// Results with `isError`
    Standard,
    /// JSON-RPC errors
    Classic,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Tools to offer")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct OfferArgs {
    /// Offer tools that change files and repositories
    #[arg(long)]
    pub(crate) allow_write: bool,
    /// Offer tools that build, test and run commands; they run the project's code with your
    /// permissions
    #[arg(long)]
    pub(crate) allow_run: bool,
    /// Offer tools that access the network, such as `git_fetch`
    #[arg(long)]
    pub(crate) allow_network: bool,
    /// Also offer the older names of tools, such as `get_status`
    #[arg(long)]
    pub(crate) compatibility: bool,
    #[command(flatten)]
    pub(crate) services: ServiceArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ServiceArgs {
    /// Offer tools for the GitHub Actions of this project, with the token in `GITHUB_TOKEN`; may
    /// be repeated
    #[arg(long, value_name = "OWNER/NAME")]
    pub(crate) github: Vec<String>,
    /// Offer tools for the GitLab pipelines of this project, with the token in `GITLAB_TOKEN`; may
    /// be repeated
    #[arg(long, value_name = "GROUP/NAME")]
    pub(crate) gitlab: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Authentication, encryption and accepted hosts")]
pub(crate) struct GuardArgs {
    /// Serve over TLS with the certificate in this PEM file; it is read again when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// PEM file with the private key of the certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Accept only clients with a certificate of the authorities in this PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) client_ca: Option<PathBuf>,
    /// Serve other machines over plain HTTP, such as behind a proxy that encrypts
    #[arg(long, conflicts_with = "tls_cert")]
    pub(crate) insecure_http: bool,
    /// Refuse requests without one of the API keys in this file: {"keys": [{"id", "sha256",
    /// "roles", "scopes", "expires"}]}
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,
    /// Accept JWTs from this issuer
    #[arg(long, value_name = "URL", requires = "jwks", requires = "audience")]
    pub(crate) issuer: Option<String>,
    /// Required audience (`aud`) of JWTs: the public URL of this server
    #[arg(long, value_name = "URL", requires = "issuer")]
    pub(crate) audience: Option<String>,
    /// The issuer's public keys (JWKS): a file, or a URL to fetch them from when needed
    #[arg(long, value_name = "FILE_OR_URL", requires = "issuer")]
    pub(crate) jwks: Option<String>,
    /// Also accept requests for this host name, such as that of a reverse proxy; may be repeated
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// Accept requests from web pages of this origin; may be repeated
    #[arg(long = "origin", value_name = "ORIGIN")]
    pub(crate) origins: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Limits and records")]
pub(crate) struct RecordArgs {
    /// Maximum requests per minute and caller, including list requests
    #[arg(long, value_name = "NUMBER")]
    pub(crate) calls_per_minute: Option<std::num::NonZeroU32>,
    /// Maximum calls per minute and tool
    #[arg(long, value_name = "NUMBER")]
    pub(crate) tool_calls_per_minute: Option<std::num::NonZeroU32>,
    /// Directory for the audit trail [default: below `$XDG_STATE_HOME/trunkline/audit`]
    #[arg(long, value_name = "DIR", conflicts_with = "no_audit")]
    pub(crate) audit: Option<PathBuf>,
    /// Do not write an audit trail
    #[arg(long)]
    pub(crate) no_audit: bool,
}

/// The parts that every offer needs.
struct Serving<'a> {
    context: &'a Context,
    args: &'a Args,
    loaded: &'a Loaded,
    telemetry: &'a Telemetry,
    workers: Workers,
    store: Arc<dyn Store>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let socket = if args.stdio { None } else { listen::inherited()? };
    let loaded = settings::load(context, args.config.as_deref(), flags::of(args))?;
    let store = store::open(&loaded.settings)?;
    // Long work runs on blocking threads, so a single client needs only one runtime thread.
    let (threads, operators) = if args.stdio {
        (Threads::One, Operators::Unreachable)
    } else {
        (Threads::All, Operators::Reachable)
    };
    if !loaded.settings.servers.is_empty() {
        args.offer.refuse_beside_servers(&args.roots)?;
        let engine = Engine::start(threads)?;
        let workers = engine.workers();
        return engine.run(async {
            let telemetry =
                Telemetry::start(&args.telemetry, (&loaded.settings).into(), &context.environment)?;
            let approvals = approvals::new(&loaded.settings, store.clone(), operators);
            let running =
                Running::start(&loaded, &context.environment, telemetry.tracer(), approvals, store.clone())?;
            reload::start(context, args, &loaded, &running)?;
            let serving = Serving { context, args, loaded: &loaded, telemetry: &telemetry, workers, store };
            let served = serving.serve(&Offer::Servers(running.clone()), socket).await;
            running.stop().await;
            telemetry.finish().await;
            served
        });
    }
    let packs = Packs::from(args).guarding(&loaded.guarded, &loaded.private);
    let roots = packs.open()?;
    // Before any thread is started: only threads started later inherit the restriction.
    let records = [
        wire::audit_home(&loaded.settings, &context.environment)?,
        args.telemetry.directory(&loaded.settings.access_log),
        store::folder(&loaded.settings),
    ];
    packs.restrict(&roots, records.into_iter().flatten().collect())?;
    let documents = &loaded.settings.documents;
    let parts = DocumentParts { settings: documents, store: &store, environment: &context.environment };
    let kit = packs.all(&roots, &context.environment, &parts)?;
    let engine = Engine::start(threads)?;
    let workers = engine.workers();
    engine.run(async {
        let telemetry = Telemetry::start(&args.telemetry, (&loaded.settings).into(), &context.environment)?;
        let (settings, environment) = (&loaded.settings, &context.environment);
        let policy = gateway::policy(settings)?;
        let approvals = || approvals::new(settings, store.clone(), operators);
        let ruled = (!policy.is_open()).then(|| RuledPacks::start(&kit, &loaded, environment, approvals()));
        let ruled = ruled.transpose()?.map(Arc::new);
        let config = reload::watch(context, args, &loaded, ruled.clone());
        let serving = Serving { context, args, loaded: &loaded, telemetry: &telemetry, workers, store };
        let offer = Offer::Packs(PackOffer { kit: kit.into(), config, ruled: ruled.clone() });
        let served = serving.serve(&offer, socket).await;
        if let Some(ruled) = ruled {
            ruled.stop().await;
        }
        telemetry.finish().await;
        served
    })
}

impl Serving<'_> {
    async fn serve(&self, offer: &Offer, socket: Option<TcpListener>) -> Result<Ending, Failure> {
        memory::limit(&self.loaded.settings);
        if self.args.stdio { self.over_stdio(offer).await } else { self.over_http(offer, socket).await }
    }

    /// Wraps the offer's handler in its layers, and returns the directory of its audit trail.
    fn stacked(
        &self,
        offer: &Offer,
        name: &str,
        options: &mut ServeOptions,
    ) -> Result<(Arc<dyn Handler>, Option<PathBuf>), Failure> {
        let settings = &self.loaded.settings;
        let trail = wire::trail(settings, name, &self.context.environment)?;
        let (trail, folder) = trail.unzip();
        options.store = Some(self.store.clone());
        let rates = wire::rates(settings, offer.tool_names()).map(|limits| Rates::new(&limits));
        options.control = offer.control(trail.as_ref(), rates.clone());
        let stack = Stack {
            telemetry: self.telemetry,
            audit: trail.map(|trail| (trail, offer.read_only())),
            rates,
            hooks: hooks::hooks(settings, &self.context.environment, offer.tool_names())?,
            errors: settings.errors,
            gateway: offer.gateway(),
            cut_results: offer.cut_results(&self.store),
        };
        Ok((stack.around(offer.handler(), options), folder))
    }

    async fn over_stdio(&self, offer: &Offer) -> Result<Ending, Failure> {
        output::require_reader()?;
        let mut options = wire::options(&self.loaded.settings, self.args.era, None)?;
        let (handler, _) = self.stacked(offer, "stdio", &mut options)?;
        let mut stop = Stop::listen()?;
        output::explain_on_terminal(self.context, "without --stdio it serves over HTTP");
        tokio::select! {
            served = serve_stdio(handler, options, standard_input(), standard_output()) => {
                served.map_err(|error| Failure::usage(format!("the input cannot be read: {error}")))?;
            }
            _ = stop.stopped() => {}
        }
        Ok(Ending::Fine)
    }

    async fn over_http(&self, offer: &Offer, socket: Option<TcpListener>) -> Result<Ending, Failure> {
        let Self { context, args, loaded, telemetry, .. } = *self;
        let settings = &loaded.settings;
        let mut options = wire::options(settings, args.era, offer.role_scopes())?;
        options.workers = self.workers.clone();
        options.guard.encryption =
            crate::wire::tls::encryption(settings.tls.as_ref(), settings.insecure_http)?;
        offer.add_pages(&mut options, telemetry);
        let inherited = socket.as_ref().and_then(|socket| socket.local_addr().ok());
        let address = inherited.or(settings.listen).unwrap_or(DEFAULT_ADDRESS);
        options.guard.hosts.extend(listening::own_host(address));
        let public_url = settings.public_url.as_deref();
        options.guard.hosts.extend(public_url.and_then(listening::host_of));
        let listener = listen::bind(socket, address, &options.guard).await?;
        offer.reached_at(public_url, listener.address(), settings.tls.as_ref());
        let port = listener.address().port().to_string();
        let (handler, trail) = self.stacked(offer, &port, &mut options)?;
        let server = listener.serve(handler, options);
        let facts = banner::Facts { address: server.address(), offer, loaded, args, trail: trail.as_deref() };
        // Signals are handled before the banner is shown, because its reader may stop us at once.
        let mut stop = Stop::listen()?;
        banner::show(context, &facts)?;
        let (tell, told) = watch::channel(Shutdown::Running);
        let mut running = Box::pin(server.run(told));
        for word in [Shutdown::Drain, Shutdown::Now] {
            tokio::select! {
                () = &mut running => return Ok(Ending::Fine),
                _ = stop.stopped() => {
                    context.screen.tell(if word == Shutdown::Drain { "draining; press Ctrl-C again to stop now\n" } else { "" });
                    tell.send_replace(word);
                }
            }
        }
        running.await;
        Ok(Ending::Fine)
    }
}
