//! `bridge`: offers one server over another transport or to clients of another era, with
//! unchanged names.

mod bridged;

use super::{Context, Ending, serve::GuardArgs};
use crate::{
    args::{ConnectionArgs, TargetWords, parse_listen},
    failure::Failure,
    listening, output,
    runtime::{Engine, Threads},
    stop::Stop,
    telemetry::{Configured, Telemetry, TelemetryArgs},
    wire::{self, gate::RoleScopes, observed::Observed, stack::Stack},
};
use bridged::{About, Bridged, Ruled, probe};
use std::{net::SocketAddr, sync::Arc};
use tokio::sync::watch;
use trunkline_client::{ConnectOptions, Connector, Target};
use trunkline_config::{AccessLog, Errors};
use trunkline_gateway::{
    catalog::Rules,
    metrics,
    upstream::{Start, Upstream, UpstreamOptions},
};
use trunkline_protocol::{Caller, Handler, ServerName};
use trunkline_serve::{CallerTest, Limits, ServeOptions, Shutdown, Workers, serve_stdio};
use trunkline_transport::stdio::{standard_input, standard_output};

/// Offer a server over another transport, or to clients of another era
///
/// By default, serves on standard input and output, so that a client that can only start commands
/// reaches a remote or newer server. With `--listen`, serves over HTTP, so that a server that is a
/// command has an address: `/mcp` for clients of every revision, `/sse` for those of 2024-11-05.
/// The server's names, instructions and identity are passed on unchanged; the rules of a configured
/// server and the roles of callers hold as with `serve`.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "trunkline bridge [OPTIONS] <TARGET>\n       trunkline bridge [OPTIONS] [--] <COMMAND>..."
)]
pub(crate) struct Args {
    /// The server's address or its name in the configuration
    #[arg(value_name = "TARGET")]
    words: Vec<String>,
    /// The command that starts the server, instead of TARGET
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Serve over HTTP on this address instead of standard input and output
    #[arg(long, value_name = "ADDRESS", value_parser = parse_listen)]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    guard: GuardArgs,
    #[command(flatten)]
    telemetry: TelemetryArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// The server's name in messages; a bridge has only one.
const NAME: &str = "server";

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let words = TargetWords { words: &args.words, command: &args.command };
    let split = words.split(&context.environment)?;
    if let Some(word) = split.rest.first() {
        return Err(Failure::usage(format!("unexpected argument `{word}`")));
    }
    refuse("--answer", !args.connection.ask.answers.is_empty())?;
    refuse("--sample", args.connection.ask.sample)?;
    refuse("--log-level", args.connection.log_level.is_some())?;
    let threads = if args.listen.is_some() { Threads::All } else { Threads::One };
    let engine = Engine::start(threads)?;
    let workers = engine.workers();
    engine.run(async {
        wire::memory::limit_client(&context.environment);
        let target = wire::target(split.target, &args.connection, &context.environment)?;
        let mut options = wire::bridge_options(&args.connection, context)?;
        let mut ruled = None;
        if split.configured.is_none() {
            wire::account::attach(&mut options, &target, &context.environment);
        }
        if let Some(configured) = split.configured {
            ruled = configured.has_rules().then(|| (configured.name.clone(), configured.rules.clone()));
            options = configured.complete(options, &args.connection);
        }
        let (name, rules) = ruled.unzip();
        // Of the configuration, a bridge uses the memory limit and the server's entry.
        let (traces, log) = (trunkline_config::Telemetry::default(), AccessLog::default());
        let told = Configured { telemetry: &traces, access_log: &log };
        let telemetry = Telemetry::start(&args.telemetry, told, &context.environment)?;
        let observed = Arc::new(Observed::new(telemetry.tracer()));
        let upstream = upstream(name, target, options, &observed)?;
        upstream.start();
        let offered = Offered::new(&upstream, rules)?;
        let outcome = match args.listen {
            Some(address) => {
                let seen = Seen { telemetry: &telemetry, observed, upstream: upstream.clone(), workers };
                over_http(context, args, address, offered, seen).await
            }
            None => over_stdio(context, args, offered.handler, &telemetry).await,
        };
        upstream.stop().await;
        telemetry.finish().await;
        outcome
    })
}

/// The parts that observe and serve the traffic of an HTTP bridge.
struct Seen<'a> {
    telemetry: &'a Telemetry,
    observed: Arc<Observed>,
    upstream: Arc<Upstream>,
    workers: Workers,
}

/// The handler of a server, and what its rules say about callers.
struct Offered {
    handler: Arc<dyn Handler>,
    /// The test for callers that may see the metrics.
    may_operate: Option<CallerTest>,
    role_scopes: Option<RoleScopes>,
}

impl Offered {
    /// The handler applies the server's rules, if it has any.
    fn new(upstream: &Arc<Upstream>, rules: Option<Rules>) -> Result<Self, Failure> {
        let Some(rules) = rules else {
            let handler = Arc::new(Bridged::new(upstream.clone()));
            return Ok(Self { handler, may_operate: None, role_scopes: None });
        };
        let ruled = Ruled::new(upstream, rules).map_err(|bad| Failure::usage(bad.to_string()))?;
        let (may_operate, role_scopes) = (Some(ruled.may_operate()), Some(ruled.role_scopes()));
        Ok(Self { handler: Arc::new(ruled), may_operate, role_scopes })
    }
}

/// The server behind the bridge, started on the first client's call. Its rules need its name.
fn upstream(
    name: Option<ServerName>,
    target: Target,
    options: ConnectOptions,
    observed: &Observed,
) -> Result<Arc<Upstream>, Failure> {
    let name = name.map_or_else(|| NAME.parse::<ServerName>(), Ok);
    let name = name.map_err(|error| Failure::usage(error.to_string()))?;
    let mut settings = UpstreamOptions {
        start: Start::WhenNeeded,
        timeouts: options.timeouts,
        offered: wire::reach::exactly(&options),
        ..UpstreamOptions::default()
    };
    settings.lists.ttl = Some(options.list_ttl);
    let connect = observed.connect(&name, Arc::new(Connector::new(target, options)));
    Ok(Upstream::new(name, connect, settings))
}

/// A bridge has no audit trail and no rate limits: it connects one client to one server.
fn stack(telemetry: &Telemetry) -> Stack<'_> {
    Stack {
        telemetry,
        audit: None,
        rates: None,
        hooks: None,
        errors: Errors::Standard,
        gateway: None,
        cut_results: None,
    }
}

/// Refuses an option for server questions: the bridge's client answers them.
fn refuse(option: &str, given: bool) -> Result<(), Failure> {
    if given {
        let failure =
            format!("{option} has no effect here: the bridge's client answers the server's questions");
        return Err(Failure::usage(failure));
    }
    Ok(())
}

async fn over_stdio(
    context: &Context,
    args: &Args,
    handler: Arc<dyn Handler>,
    telemetry: &Telemetry,
) -> Result<Ending, Failure> {
    output::require_reader()?;
    let mut stop = Stop::listen()?;
    output::explain_on_terminal(context, "with --listen it serves over HTTP");
    // The only client may use the full concurrency and queue of the only upstream.
    let room = UpstreamOptions::default().bulkhead;
    let mut options = ServeOptions {
        guard: wire::serve::guard(&wire::flags::auth(&args.guard), None, None)?,
        limits: Limits { calls: room.concurrency + room.queue, ..Limits::default() },
        ..ServeOptions::default()
    };
    let handler = stack(telemetry).around(handler, &mut options);
    tokio::select! {
        served = serve_stdio(handler, options, standard_input(), standard_output()) => {
            served.map_err(|error| Failure::usage(format!("the input cannot be read: {error}")))?;
        }
        _ = stop.stopped() => {}
    }
    stop.next_is_final();
    Ok(Ending::Fine)
}

async fn over_http(
    context: &Context,
    args: &Args,
    address: SocketAddr,
    offered: Offered,
    seen: Seen<'_>,
) -> Result<Ending, Failure> {
    let mut stop = Stop::listen()?;
    let Offered { handler, may_operate, role_scopes } = offered;
    let tls = wire::flags::tls(&args.guard);
    let mut guard = wire::serve::guard(&wire::flags::auth(&args.guard), tls.as_ref(), role_scopes)?;
    guard.encryption = wire::tls::encryption(tls.as_ref(), args.guard.insecure_http)?;
    guard.hosts.extend(listening::own_host(address));
    let listener = listening::listen(address, &guard).await?;
    // Connect now, so that an unreachable server is reported at startup, not on the first call.
    let server = tokio::select! {
        server = probe(&seen.upstream) => server.map_err(Failure::connecting)?,
        stopped = stop.stopped() => return Err(stopped),
    };
    let Seen { telemetry, observed, upstream, workers } = seen;
    let ours = telemetry.metrics();
    let mut options = ServeOptions {
        guard,
        workers,
        may_operate,
        more_metrics: Some(Arc::new(move |_: &Caller| {
            metrics::render(&[observed.figures(&upstream)]) + &ours()
        })),
        ..ServeOptions::default()
    };
    let handler = stack(telemetry).around(handler, &mut options);
    let serving = listener.serve(handler, options);
    let scheme = if tls.is_some() { "https" } else { "http" };
    announce(context, &format!("{scheme}://{}", listening::local(serving.address())), &server)?;
    let (tell, told) = watch::channel(Shutdown::Running);
    let mut running = Box::pin(serving.run(told));
    for word in [Shutdown::Drain, Shutdown::Now] {
        tokio::select! {
            () = &mut running => return Ok(Ending::Fine),
            _ = stop.stopped() => tell.send_replace(word),
        };
    }
    running.await;
    Ok(Ending::Fine)
}

fn announce(context: &Context, base: &str, server: &About) -> Result<(), Failure> {
    let endpoint = format!("{base}/mcp");
    if context.output.json {
        let value = serde_json::json!({
            "endpoint": endpoint,
            "sse": format!("{base}/sse"),
            "server": server.name,
            "revision": server.revision,
            "pid": std::process::id(),
        });
        return context.print_json(&value).map(drop);
    }
    let name = server.name.as_deref().unwrap_or("a server without a name");
    context.screen.tell(&format!(
        "{name} (revision {}) is offered at {endpoint}, and to clients of 2024-11-05 at {base}/sse\n",
        server.revision.unwrap_or("unknown")
    ));
    Ok(())
}
