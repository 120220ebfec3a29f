//! `serve`: our own tools for the current directory, over HTTP or to the program that starts us.

mod banner;

use super::{Context, Ending};
use crate::{
    args::EraChoice,
    failure::Failure,
    stop::Stop,
    wire::serve::{self as wire, Kit},
};
use std::{net::SocketAddr, path::PathBuf};
use tokio::sync::watch;
use trunkline_serve::{BindError, Guard, Server, Shutdown, serve_stdio};

/// Where we listen unless told otherwise.
const DEFAULT_ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8425);
/// Ports tried after the default one.
const FURTHER_PORTS: u16 = 20;

/// Serve tools for a directory: files, git and CI
///
/// Without options: read-only tools for the current directory, on 127.0.0.1 and to programs of this machine only. Clients of every
/// protocol revision are served at `/mcp`, those of 2024-11-05 at `/sse`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Listen here; without it on 127.0.0.1:8425, or the next free port
    #[arg(long, value_name = "ADDRESS", conflicts_with = "stdio")]
    pub(crate) listen: Option<SocketAddr>,
    /// Serve the program that started us, on standard input and output
    #[arg(long)]
    pub(crate) stdio: bool,
    /// Serve this directory instead of the current one; may be repeated
    #[arg(long = "root", value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) offer: OfferArgs,
    /// Serve clients of this era only
    #[arg(long, value_name = "ERA", default_value = "auto")]
    pub(crate) era: EraChoice,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
    #[command(flatten)]
    pub(crate) record: RecordArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What is offered")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct OfferArgs {
    /// Offer tools that change files and repositories
    #[arg(long)]
    pub(crate) allow_write: bool,
    /// Offer tools that build, test and run commands. The project's own code runs then, with your rights
    #[arg(long)]
    pub(crate) allow_run: bool,
    /// Offer tools that talk to other machines, such as `git_fetch`
    #[arg(long)]
    pub(crate) allow_network: bool,
    /// Offer the older names of tools, too, such as `get_status`
    #[arg(long)]
    pub(crate) compatibility: bool,
    #[command(flatten)]
    pub(crate) services: ServiceArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ServiceArgs {
    /// Offer tools for the GitHub Actions of this project; the token is taken from `GITHUB_TOKEN`. May be repeated
    #[arg(long, value_name = "OWNER/NAME")]
    pub(crate) github: Vec<String>,
    /// Offer tools for the GitLab pipelines of this project; the token is taken from `GITLAB_TOKEN`. May be repeated
    #[arg(long, value_name = "GROUP/NAME")]
    pub(crate) gitlab: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Who may come in")]
pub(crate) struct GuardArgs {
    /// Let in only who shows a key of this file: {"keys": [{"id", "sha256", "roles", "scopes", "expires"}]}
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,
    /// Let in who shows a token of this issuer
    #[arg(long, value_name = "URL", requires = "jwks", requires = "audience")]
    pub(crate) issuer: Option<String>,
    /// The audience that tokens must be made out to: our own address
    #[arg(long, value_name = "URL", requires = "issuer")]
    pub(crate) audience: Option<String>,
    /// The issuer's public keys (JWKS): a file, or the address they are fetched from when needed
    #[arg(long, value_name = "FILE_OR_URL", requires = "issuer")]
    pub(crate) jwks: Option<String>,
    /// Answer under this host name, too, such as that of a proxy before us; may be repeated
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// Let pages of this origin call us; may be repeated
    #[arg(long = "origin", value_name = "ORIGIN")]
    pub(crate) origins: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Limits and records")]
pub(crate) struct RecordArgs {
    /// Requests a minute by one caller, lists included
    #[arg(long, value_name = "NUMBER")]
    pub(crate) calls_per_minute: Option<std::num::NonZeroU32>,
    /// Calls a minute of one tool
    #[arg(long, value_name = "NUMBER")]
    pub(crate) tool_calls_per_minute: Option<std::num::NonZeroU32>,
    /// Keep the audit trail here; without it below `$XDG_STATE_HOME/trunkline/audit`
    #[arg(long, value_name = "DIR", conflicts_with = "no_audit")]
    pub(crate) audit: Option<PathBuf>,
    /// Keep no audit trail
    #[arg(long)]
    pub(crate) no_audit: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let roots = wire::roots(args)?;
    // Before any thread is started: the restriction holds for threads that come after it.
    wire::restrict(&roots, args, &context.environment)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format!("the program cannot start: {error}")))?;
    runtime.block_on(async {
        let kit = wire::kit(args, &roots, &context.environment)?;
        if args.stdio { over_stdio(context, args, kit).await } else { over_http(context, args, kit).await }
    })
}

async fn over_stdio(context: &Context, args: &Args, kit: Kit) -> Result<Ending, Failure> {
    let (handler, _trail) = wire::recorded(kit, args, "stdio", &context.environment)?;
    let options = wire::options(args)?;
    let mut stop = Stop::listen()?;
    tokio::select! {
        served = serve_stdio(handler, options, tokio::io::stdin(), tokio::io::stdout()) => {
            served.map_err(|error| Failure::usage(format!("the input cannot be read: {error}")))?;
        }
        _ = stop.stopped() => {}
    }
    Ok(Ending::Fine)
}

async fn over_http(context: &Context, args: &Args, kit: Kit) -> Result<Ending, Failure> {
    let tools = kit.tools;
    let options = wire::options(args)?;
    let listener = bind(args, &options.guard).await?;
    let port = listener.address().port();
    let (handler, trail) = wire::recorded(kit, args, &port.to_string(), &context.environment)?;
    let server = listener.serve(handler, options);
    banner::show(
        context,
        &banner::Facts {
            address: server.address(),
            tools,
            roots: &args.roots,
            args,
            trail: trail.as_deref(),
        },
    )?;
    let (tell, told) = watch::channel(Shutdown::Running);
    let mut stop = Stop::listen()?;
    let mut running = Box::pin(server.run(told));
    for word in [Shutdown::Drain, Shutdown::Now] {
        tokio::select! {
            () = &mut running => return Ok(Ending::Fine),
            _ = stop.stopped() => {
                context.screen.tell(if word == Shutdown::Drain { "finishing what runs; once more to stop at once\n" } else { "" });
                tell.send_replace(word);
            }
        }
    }
    running.await;
    Ok(Ending::Fine)
}

/// Listens where we were told to, or on the first free port from the default one on.
async fn bind(args: &Args, guard: &Guard) -> Result<trunkline_serve::Listener, Failure> {
    let first = args.listen.unwrap_or(DEFAULT_ADDRESS);
    let further = if args.listen.is_some() { 0 } else { FURTHER_PORTS };
    for offset in 0..=further {
        let address = SocketAddr::new(first.ip(), first.port() + offset);
        match Server::listen(address, guard).await {
            Ok(listener) => return Ok(listener),
            Err(BindError::Io { .. }) if offset < further => {}
            Err(BindError::Refused(refused)) => {
                return Err(Failure::usage(refused.to_string()).hint("see --keys"));
            }
            Err(error @ BindError::Io { .. }) => {
                return Err(Failure::usage(format!("{error}: {}", source(&error)))
                    .hint("choose another with --listen"));
            }
        }
    }
    Err(Failure::usage("no port is free"))
}

fn source(error: &dyn std::error::Error) -> String {
    error.source().map(ToString::to_string).unwrap_or_default()
}
