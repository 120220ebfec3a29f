//! The ladder by which a program is asked, told and forced to end.

use std::time::Duration;

use rustix::process::Signal;
use trunkline_resilience::timeout;

use crate::{ending::Ending, process::Process};

/// How long a program may take to exit once its input has ended.
const DEFAULT_EOF_PATIENCE: Duration = Duration::from_secs(2);

/// How long a program may take to exit after SIGTERM.
const DEFAULT_TERM_PATIENCE: Duration = Duration::from_secs(2);

/// How long the system may take to end a killed process; only one stuck inside the kernel needs more.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait on each rung of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// From the end of its input, including the writing of what is still queued, to SIGTERM.
    pub eof: Duration,
    /// From SIGTERM to SIGKILL.
    pub term: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { eof: DEFAULT_EOF_PATIENCE, term: DEFAULT_TERM_PATIENCE }
    }
}

/// The step that ended a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// The end of its input, or it was gone before.
    EndOfInput,
    /// SIGTERM to its group.
    Terminate,
    /// SIGKILL to its group.
    Kill,
}

/// How a shutdown went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// How the program ended.
    pub ending: Ending,
    /// The step that ended it.
    pub rung: Rung,
    /// Names of the processes that outlived the leader by [`Command::grace`](crate::Command::grace). `None`
    /// without a grace period, and where the system does not show groups.
    pub survivors: Option<Vec<String>>,
}

impl Process {
    /// Ends the program: `end_input` closes its stdin, then SIGTERM, then SIGKILL, the signals to its whole group.
    /// What is left of the group when the leader is gone is killed too. `end_input` is dropped, and must close
    /// stdin then, if the program has not read its input in time. Dropping the future kills at once.
    pub async fn shutdown(self, patience: Patience, end_input: impl Future<Output = ()>) -> Departure {
        let politely = async {
            end_input.await;
            self.exit().await
        };
        let (exit, rung) = if let Some(exit) = timeout(patience.eof, politely).await {
            (exit, Rung::EndOfInput)
        } else if let Some(exit) = self.end_by(Signal::TERM, patience.term).await {
            (exit, Rung::Terminate)
        } else {
            (self.end_by(Signal::KILL, KILL_PATIENCE).await.flatten(), Rung::Kill)
        };
        let (ending, survivors) = exit.map_or((Ending::Unknown, None), |exit| (exit.ending, exit.survivors));
        Departure { ending, rung, survivors }
    }

    async fn end_by(&self, signal: Signal, patience: Duration) -> Option<Option<crate::monitor::Exit>> {
        self.group.signal(signal);
        timeout(patience, self.exit()).await
    }
}
