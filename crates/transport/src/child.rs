//! A server process that exchanges frames over its standard streams.

use tokio::process::ChildStdout;
use trunkline_process::{Command, Departure, GracePeriods, Process, SpawnError};

use crate::stdio::{DEFAULT_LINE_LIMIT, FrameReader, FrameWriter, QueueLimits};

/// Default of [`ChildLimits::stderr_tail`].
const DEFAULT_STDERR_TAIL: usize = 64 * 1024;

/// Limits on the memory that a child may make us use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildLimits {
    /// Longest line on its stdout, in bytes.
    pub line: usize,
    /// Limits of the queue in front of its stdin.
    pub queue: QueueLimits,
    /// Bytes of its stderr that are kept.
    pub stderr_tail: usize,
}

impl Default for ChildLimits {
    fn default() -> Self {
        Self { line: DEFAULT_LINE_LIMIT, queue: QueueLimits::default(), stderr_tail: DEFAULT_STDERR_TAIL }
    }
}

/// A running server process. Dropping it kills its whole group; [`shutdown`](Self::shutdown) lets
/// it exit by itself first.
#[derive(Debug)]
pub struct ChildProcess {
    pub process: Process,
    /// Writes to its stdin.
    pub writer: FrameWriter,
}

impl ChildProcess {
    /// Starts `command` on the current runtime, which must have I/O and time enabled. The returned
    /// reader reads its stdout.
    pub fn spawn(
        command: &Command,
        limits: ChildLimits,
    ) -> Result<(Self, FrameReader<ChildStdout>), SpawnError> {
        let (process, stdin, stdout) = Process::spawn(command, limits.stderr_tail)?;
        let writer = FrameWriter::new(stdin, limits.queue);
        Ok((Self { process, writer }, FrameReader::with_limit(stdout, limits.line)))
    }

    /// Ends the server: closes its stdin, then sends SIGTERM, then SIGKILL to its whole group.
    /// Dropping the future kills the group at once.
    pub async fn shutdown(self, patience: GracePeriods) -> Departure {
        let input = AbortOnDrop(self.writer);
        let end_input = async move {
            // A failed close means that the server has ended or does not read; a signal follows.
            input.0.close().await.ok();
        };
        self.process.shutdown(patience, end_input).await
    }
}

struct AbortOnDrop(FrameWriter);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
