//! The program's own log, on standard error.

use crate::{commands::Context, environment, failure::Failure, render::safe, terminal::Screen};
use std::{
    io::{self, Write},
    sync::Arc,
};
use tracing_subscriber::EnvFilter;

pub(crate) fn start(context: &Context) -> Result<(), Failure> {
    let chosen = match (context.output.quiet, context.output.verbose) {
        (true, _) => "error",
        // Without the recovery of a server, a reader of the log would think that it is still down.
        (false, 0) => "warn,trunkline_resilience::breaker=info",
        (false, 1) => "warn,trunkline=info,trunkline_client=info,trunkline_transport=info",
        (false, _) => "info,trunkline=trace,trunkline_client=trace,trunkline_transport=trace",
    };
    let wanted = context.environment.get_filled(environment::LOG);
    let filter = EnvFilter::try_new(wanted.unwrap_or(chosen))
        .map_err(|error| Failure::usage(format!("{} cannot be read: {error}", environment::LOG)))?;
    let screen = context.screen.clone();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .without_time()
        .with_target(false)
        .with_writer(move || Lines(screen.clone()))
        .init();
    Ok(())
}

/// Each write is one event. It may contain text from servers, so control characters are escaped.
struct Lines(Arc<Screen>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.tell(&safe::text(&String::from_utf8_lossy(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
