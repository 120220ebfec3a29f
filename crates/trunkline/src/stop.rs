//! SIGINT, SIGTERM and SIGHUP: the first one stops gracefully, the second one at once.

use crate::failure::Failure;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    task,
};

/// Waits for a signal to stop.
pub(crate) struct Stop {
    interrupt: Signal,
    terminate: Signal,
    /// SIGHUP, sent when the terminal closes. `None` for servers, which reload on it, and under
    /// `nohup`.
    hang_up: Option<Signal>,
}

/// True if SIGHUP is ignored: the lowest bit of the `SigIgn` mask.
#[cfg(target_os = "linux")]
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[cfg(not(target_os = "linux"))]
fn ignores_hang_up() -> bool {
    false
}

impl Stop {
    pub(crate) fn listen() -> Result<Self, Failure> {
        let (interrupt, terminate) =
            (subscribe(SignalKind::interrupt())?, subscribe(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate, hang_up: None })
    }

    /// Like `listen`, but also stops on SIGHUP, for commands that should not outlive their
    /// terminal.
    pub(crate) fn listen_on_terminal() -> Result<Self, Failure> {
        // Check first: installing a handler would replace the ignored disposition.
        let hang_up = if ignores_hang_up() { None } else { Some(subscribe(SignalKind::hangup())?) };
        Ok(Self { hang_up, ..Self::listen()? })
    }

    pub(crate) async fn stopped(&mut self) -> Failure {
        tokio::select! {
            _ = self.interrupt.recv() => Failure::interrupted(),
            _ = self.terminate.recv() => Failure::terminated(),
            Some(()) = async { self.hang_up.as_mut()?.recv().await } => Failure::terminated(),
        }
    }

    /// From here on, a signal ends the process at once. Child processes are then ended by their
    /// watchdog.
    pub(crate) fn next_is_final(mut self) {
        task::spawn(async move {
            let failure = self.stopped().await;
            std::process::exit(failure.exit_code().into());
        });
    }
}

fn subscribe(kind: SignalKind) -> Result<Signal, Failure> {
    signal(kind).map_err(|error| Failure::usage(format!("signals cannot be received: {error}")))
}
