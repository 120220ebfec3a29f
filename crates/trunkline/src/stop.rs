//! Ctrl-C and its kin: the first one ends the work politely, the second one at once.

use crate::failure::Failure;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    task,
};

/// Waits for the person to stop us.
pub(crate) struct Stop {
    interrupt: Signal,
    terminate: Signal,
    /// The terminal went away. A server is told other things with this signal, and `nohup` says that it means nothing.
    hang_up: Option<Signal>,
}

/// Which signals are ignored, as the system tells; the first bit is that of the terminal going away.
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
        let (interrupt, terminate) = (hear(SignalKind::interrupt())?, hear(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate, hang_up: None })
    }

    /// The same for a command that has no reason to outlive its terminal.
    pub(crate) fn listen_on_terminal() -> Result<Self, Failure> {
        // Before we listen: listening would end the ignoring.
        let hang_up = if ignores_hang_up() { None } else { Some(hear(SignalKind::hangup())?) };
        Ok(Self { hang_up, ..Self::listen()? })
    }

    pub(crate) async fn stopped(&mut self) -> Failure {
        tokio::select! {
            _ = self.interrupt.recv() => Failure::interrupted(),
            _ = self.terminate.recv() => Failure::terminated(),
            Some(()) = async { self.hang_up.as_mut()?.recv().await } => Failure::terminated(),
        }
    }

    /// From here on, a signal ends the process whatever it is doing. Servers are ended by their watchdog then.
    pub(crate) fn next_is_final(mut self) {
        task::spawn(async move {
            let failure = self.stopped().await;
            std::process::exit(failure.exit_code().into());
        });
    }
}

fn hear(kind: SignalKind) -> Result<Signal, Failure> {
    signal(kind).map_err(|error| Failure::usage(format!("signals cannot be received: {error}")))
}
