//! Connects to several configured servers at the same time.

use super::Context;
use crate::{
    failure::Failure,
    runtime,
    stop::Stop,
    terminal::Progress,
    wire::{self, named::Named},
};
use futures_util::{StreamExt, stream};

/// Servers that are connected to at the same time.
const AT_ONCE: usize = 8;

/// The name of a server, and the result for it.
pub(super) type Asked<T> = (String, Result<T, Failure>);

/// Runs `ask` for each server and returns the results in the same order. `message` is shown
/// meanwhile; Ctrl-C stops all.
pub(super) fn each_server<T>(
    context: &Context,
    message: &str,
    servers: impl IntoIterator<Item = (String, Named)>,
    ask: impl AsyncFn(Named) -> Result<T, Failure>,
) -> Result<Vec<Asked<T>>, Failure> {
    let runtime = runtime::start()?;
    let outcome = runtime.block_on(async {
        let mut stop = Stop::listen_on_terminal()?;
        wire::memory::limit_client(&context.environment);
        let _progress = Progress::start(&context.screen, message);
        let all = stream::iter(servers)
            .map(async |(name, named)| (name, ask(named).await))
            .buffered(AT_ONCE)
            .collect::<Vec<_>>();
        tokio::select! {
            all = all => Ok(all),
            stopped = stop.stopped() => Err(stopped),
        }
    });
    runtime.shutdown_background();
    outcome
}
