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
}

impl Stop {
    pub(crate) fn listen() -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind).map_err(|error| Failure::usage(format!("signals cannot be received: {error}")))
        };
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    pub(crate) async fn stopped(&mut self) -> Failure {
        tokio::select! {
            _ = self.interrupt.recv() => Failure::interrupted(),
            _ = self.terminate.recv() => Failure::terminated(),
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
