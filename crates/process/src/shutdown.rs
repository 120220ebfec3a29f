//! Shutdown of a program in steps: EOF on its stdin, SIGTERM, SIGKILL.

use std::time::Duration;

use rustix::process::Signal;
use trunkline_resilience::timeout;

use crate::{ending::Ending, monitor::kill_supervisor, process::Process};

/// Default of [`GracePeriods::eof`].
const DEFAULT_EOF_PATIENCE: Duration = Duration::from_secs(2);

/// Default of [`GracePeriods::term`].
const DEFAULT_TERM_PATIENCE: Duration = Duration::from_secs(2);

/// Longest wait after SIGKILL; only a process stuck inside the kernel needs more.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// The grace period of each shutdown step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GracePeriods {
    /// From the start of the shutdown to SIGTERM; includes the writing of queued input.
    pub eof: Duration,
    /// From SIGTERM to SIGKILL.
    pub term: Duration,
}

impl Default for GracePeriods {
    fn default() -> Self {
        Self { eof: DEFAULT_EOF_PATIENCE, term: DEFAULT_TERM_PATIENCE }
    }
}

/// The shutdown step that ended a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShutdownStep {
    /// EOF on its stdin, or it had ended before.
    EndOfInput,
    /// SIGTERM to its group.
    Terminate,
    /// SIGKILL to its group.
    Kill,
}

/// The result of a shutdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// The program's ending.
    pub ending: Ending,
    /// The step that ended it.
    pub rung: ShutdownStep,
    /// Names of the processes that outlived the leader by
    /// [`Command::grace`](crate::Command::grace). `None` without a grace period, and without
    /// `/proc`.
    pub survivors: Option<Vec<String>>,
}

impl Process {
    /// Ends the program: `end_input` closes its stdin, then its whole group gets SIGTERM, then
    /// SIGKILL. The rest of the group is killed after the leader has ended. If the program has not
    /// read its input in time, `end_input` is dropped and must then close stdin. Dropping the
    /// future kills the group at once.
    pub async fn shutdown(self, patience: GracePeriods, end_input: impl Future<Output = ()>) -> Departure {
        let after_eof = async {
            end_input.await;
            self.exit().await
        };
        let (exit, rung) = if let Some(exit) = timeout(patience.eof, after_eof).await {
            (exit, ShutdownStep::EndOfInput)
        } else if let Some(exit) = self.end_by(Signal::TERM, patience.term).await {
            (exit, ShutdownStep::Terminate)
        } else {
            let mut exit = self.end_by(Signal::KILL, KILL_PATIENCE).await;
            if exit.is_none() {
                kill_supervisor(&self.group).await;
                exit = timeout(KILL_PATIENCE, self.exit()).await;
            }
            (exit.flatten(), ShutdownStep::Kill)
        };
        let (ending, survivors) = exit.map_or((Ending::Unknown, None), |exit| (exit.ending, exit.survivors));
        Departure { ending, rung, survivors }
    }

    async fn end_by(&self, signal: Signal, patience: Duration) -> Option<Option<crate::monitor::Exit>> {
        self.group.signal(signal);
        timeout(patience, self.exit()).await
    }
}
