//! The ladder by which a server is asked, told and forced to end.

use std::time::Duration;

use rustix::process::Signal;
use trunkline_resilience::timeout;

use super::{ending::Ending, process::ChildProcess};

/// How long a server may take to exit once its input has ended.
pub const DEFAULT_EOF_PATIENCE: Duration = Duration::from_secs(2);

/// How long a server may take to exit after SIGTERM.
pub const DEFAULT_TERM_PATIENCE: Duration = Duration::from_secs(2);

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

/// What made a server go.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// How the process ended.
    pub ending: Ending,
    /// How far the ladder had to be climbed.
    pub rung: Rung,
}

impl ChildProcess {
    /// Ends the server: closes its stdin, then SIGTERM, then SIGKILL, the signals to its whole group. Whatever
    /// remains of the group when the leader is gone is killed too. Dropping the future kills at once.
    pub async fn shutdown(self, patience: Patience) -> Departure {
        let politely = async {
            // A failed close means that the peer is gone or deaf; the next rung takes care of both.
            self.writer.close().await.ok();
            self.wait().await
        };
        if let Some(ending) = timeout(patience.eof, politely).await {
            return Departure { ending, rung: Rung::EndOfInput };
        }
        self.writer.abort();
        self.group.signal(Signal::TERM);
        if let Some(ending) = timeout(patience.term, self.wait()).await {
            return Departure { ending, rung: Rung::Terminate };
        }
        self.group.signal(Signal::KILL);
        let ending = timeout(KILL_PATIENCE, self.wait()).await.unwrap_or(Ending::Unknown);
        Departure { ending, rung: Rung::Kill }
    }
}
