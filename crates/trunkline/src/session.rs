//! One connection for one command: connect, run, close, and cancel on Ctrl-C.

use crate::{
    args::{ConnectionArgs, Split},
    commands::Context,
    failure::Failure,
    remembered::Remembered,
    runtime,
    stop::Stop,
    terminal::Progress,
    wire,
};
use std::sync::Arc;
use trunkline_client::{Client, Memory};

/// Connects, does the work, and closes. On Ctrl-C the work is dropped, which cancels it on the
/// server.
pub(crate) fn with_client<T>(
    context: &Context,
    split: Split<'_>,
    args: &ConnectionArgs,
    work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let runtime = runtime::start()?;
    let outcome = runtime.block_on(connect_and_work(context, split, args, work));
    // Do not wait for blocking threads: one may still be reading the answer to a question from
    // stdin.
    runtime.shutdown_background();
    outcome
}

async fn connect_and_work<T>(
    context: &Context,
    split: Split<'_>,
    args: &ConnectionArgs,
    work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut stop = Stop::listen_on_terminal()?;
    wire::memory::limit_client(&context.environment);
    let target = wire::target(split.target, args, &context.environment)?;
    let key = target.key();
    let remembered = (!args.no_cache).then(|| Remembered::find(&context.environment)).flatten();
    let memory = Arc::new(remembered.as_ref().map_or_else(Memory::default, |file| file.memory_of(&key)));
    let mut options = wire::options(args, context)?;
    match split.configured {
        Some(configured) => options = configured.complete(options, args),
        None => wire::account::attach(&mut options, &target, &context.environment),
    }
    options.memory = Some(memory.clone());
    let connecting = Progress::start(&context.screen, &format!("connecting to {target}"));
    let client = tokio::select! {
        client = Client::connect(&target, options) => client.map_err(Failure::connecting)?,
        stopped = stop.stopped() => return Err(stopped),
    };
    drop(connecting);
    if let Some(file) = &remembered {
        file.keep(&key, memory.recall(&key));
    }
    let outcome = tokio::select! {
        outcome = prepared(context, &client, args, work) => outcome,
        stopped = stop.stopped() => Err(stopped),
    };
    stop.next_is_final();
    client.close().await;
    outcome
}

async fn prepared<T>(
    context: &Context,
    client: &Client,
    args: &ConnectionArgs,
    work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    match args.log_level {
        Some(level) if client.has_capability("logging") => client.set_log_level(level).await?,
        Some(_) => context.screen.note("the server does not offer log messages"),
        None => {}
    }
    work(client).await
}
