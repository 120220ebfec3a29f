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

/// Each write is one event. It may contain text from servers and programs.
struct Lines(Arc<Screen>);

/// An event without control characters. Its further lines are indented, so that none of them looks
/// like another event.
fn event(bytes: &[u8]) -> String {
    let written = String::from_utf8_lossy(bytes);
    let lines = safe::text(&written).trim_end_matches('\n').replace('\n', "\n    | ");
    format!("{lines}\n")
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.tell(&event(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k03_no_text_in_an_event_looks_like_another_event() {
        let forged = event(b" WARN a program failed: x\n WARN all is well\x1b[2J\n");
        assert_eq!(forged.lines().count(), 2, "{forged:?}");
        assert!(forged.lines().skip(1).all(|line| line.starts_with("    | ")), "{forged:?}");
        assert!(!forged.contains('\x1b') && forged.ends_with('\n'), "{forged:?}");
        assert_eq!(event(b" WARN one line\n"), " WARN one line\n");
    }
}
