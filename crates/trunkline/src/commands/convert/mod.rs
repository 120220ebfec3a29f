//! `convert`: documents to Markdown, HTML or JSON.

mod job;
mod local;
mod remote;
mod report;
mod sources;
mod upstream;

use super::{Context, Ending};
use crate::{
    args::{ConnectionArgs, TargetWords},
    failure::Failure,
    runtime, session,
    stop::Stop,
    terminal::Steps,
    wire::settings,
};
use futures_util::{StreamExt, stream};
use job::{Convert, Job, Outcome, Progress};
use remote::Remote;
use std::path::PathBuf;
use trunkline_client::Client;
use trunkline_packs::documents::ExportFormat;
use trunkline_protocol::ServerName;
use upstream::ConfiguredServer;

/// Convert documents to Markdown, HTML or JSON
///
/// Sources are files, folders, URLs and `-` for standard input. The format is found by content,
/// then by extension. One source without `--out` is written to standard output. With `--out`, each
/// source becomes a file there, and a source whose file is newer than itself is skipped, so that an
/// interrupted run can be repeated. Folders are searched for files with known extensions; hidden
/// files and symbolic links are left out.
///
/// Each document is converted by a process of its own, without files and network, and within the
/// limits of `documents` in the configuration. Exit status: 0 all converted, 1 some failed, 2
/// the command line or the configuration is wrong or a source does not exist, so that nothing was
/// converted, 3 the server of `--server` cannot be reached.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files, folders, URLs, or `-` for standard input
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<String>,
    /// Format to write
    #[arg(long, value_enum, default_value_t = To::Md, value_name = "FORMAT")]
    to: To,
    /// Directory for the converted documents; created if missing
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Convert again what is converted already
    #[arg(long)]
    force: bool,
    /// Convert with this server of the configuration, or at this address, instead of here
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Read this configuration file instead of the nearest `trunkline.json` in the current
    /// directory or above it; your own file still counts
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// A format to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum To {
    Md,
    Html,
    Json,
}

impl From<To> for ExportFormat {
    fn from(to: To) -> Self {
        match to {
            To::Md => Self::Markdown,
            To::Html => Self::Html,
            To::Json => Self::Json,
        }
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let sources = sources::find(&args.sources)?;
    if args.out.is_none() && sources.len() > 1 {
        let text = format!("{} documents cannot be written to standard output together", sources.len());
        return Err(Failure::usage(text).hint("choose a directory with --out DIR"));
    }
    let jobs = Job::of(sources, args.out.as_deref(), args.to.into(), args.force);
    let outcomes = if let Some(server) = &args.server {
        by_server(context, args, server, jobs)?
    } else {
        let loaded = settings::load(context, args.config.as_deref(), Vec::new())?;
        let local = local::Local::new(&loaded.settings.documents, &context.environment)?;
        let concurrency = local.concurrency();
        runtime::start()?.block_on(async {
            let mut stop = Stop::listen_on_terminal()?;
            tokio::select! {
                outcomes = all(context, &local, jobs, concurrency) => Ok(outcomes),
                stopped = stop.stopped() => Err(stopped),
            }
        })?
    };
    report::show(context, args.out.as_deref(), &outcomes)
}

/// Converts with a server: one of the configuration, or one at an address.
fn by_server(context: &Context, args: &Args, server: &str, jobs: Vec<Job>) -> Result<Vec<Outcome>, Failure> {
    let mut loaded = settings::load(context, args.config.as_deref(), Vec::new())?;
    let name = server.parse::<ServerName>().ok();
    let Some(name) = name.filter(|name| loaded.settings.servers.contains_key(name)) else {
        let words = [server.to_owned()];
        let split = TargetWords { words: &words, command: &[] }.split(&context.environment)?;
        return session::with_client(context, split, &args.connection, async |client: &Client| {
            Ok(all(context, &Remote::Client(client), jobs, 1).await)
        });
    };
    upstream::adjust(&mut loaded, &name, &args.connection)?;
    runtime::start()?.block_on(async {
        let mut stop = Stop::listen_on_terminal()?;
        let server = ConfiguredServer::start(context, loaded, &name)?;
        let remote = Remote::Configured(&server);
        let outcomes = tokio::select! {
            outcomes = all(context, &remote, jobs, 1) => Ok(outcomes),
            stopped = stop.stopped() => Err(stopped),
        };
        server.stop().await;
        outcomes
    })
}

/// Does all jobs, a few at a time, with a progress bar; the outcomes are in the order of the jobs.
async fn all(context: &Context, convert: &impl Convert, jobs: Vec<Job>, concurrency: usize) -> Vec<Outcome> {
    let steps = Steps::start(&context.screen, "converting documents");
    let progress = Progress::new(steps.teller(), jobs.len());
    let work = |job: Job| {
        let progress = &progress;
        async move {
            let outcome = job.run(convert).await;
            progress.done(&outcome);
            outcome
        }
    };
    stream::iter(jobs).map(work).buffered(concurrency).collect().await
}
