//! A line to a process: its standard input and output.

use super::{
    Link, Process,
    duplex::{Duplex, Sender},
    report::out_of_memory,
};
use crate::{frame_tap::FrameTap, switchboard::Switchboard};
use std::{sync::Arc, time::Duration};
use tokio::process::ChildStdout;
use tracing::Instrument;
use trunkline_protocol::{Fault, FaultKind};
use trunkline_resilience::timeout;
use trunkline_transport::stdio::{FrameReader, Line};

/// Limit of lines that are not messages; a server with more does not speak MCP.
const NOISE_LIMIT: u64 = 10_000;
/// Wait for the exit of a process that has closed its output, so that the error has the status.
pub(super) const EXIT_WAIT: Duration = Duration::from_secs(1);

impl Link {
    /// Opens a link to a server process.
    pub(crate) fn over_pipe(
        (process, reader): (Process, FrameReader<ChildStdout>),
        board: Arc<Switchboard>,
        tap: Option<FrameTap>,
    ) -> Self {
        let writer = process.child.writer.clone();
        let link = Duplex::new(board, Sender::Pipe(writer), tap, Some(process));
        let outlet = link.outlet();
        // The task must not keep the line alive: dropping the last connection ends the process,
        // and with it this task.
        let task = tokio::spawn({
            let link = Arc::downgrade(&link);
            let mut reader = Reader { lines: reader, noise: 0 };
            async move {
                while let Some(first) = reader.next().await {
                    let Some(link) = link.upgrade() else { return };
                    let mut next = Some(first);
                    // All lines of one read are handled before other tasks run, so that their
                    // answers go out together.
                    while let Some(line) = next {
                        match line {
                            Ok(Line::Frame(frame)) => link.receive(&frame, &outlet),
                            Ok(Line::Noise(line)) => link.skip_noise(&line),
                            Ok(Line::TooLong { limit, .. }) => link.board().fail_all(&too_long(limit)),
                            Ok(Line::OutOfMemory { .. }) => link.board().fail_all(&out_of_memory()),
                            Err(fault) => return link.board().lose(&fault),
                        }
                        next = reader.next_buffered();
                    }
                }
                if let Some(link) = link.upgrade() {
                    link.board().lose(&fault_of_eof(&link).await);
                }
            }
            .in_current_span()
        });
        link.attach(task.abort_handle());
        Self::Duplex(link)
    }
}

struct Reader {
    lines: FrameReader<ChildStdout>,
    noise: u64,
}

impl Reader {
    /// The next line; `None` at EOF; a fault if reading must stop.
    async fn next(&mut self) -> Option<Result<Line, Fault>> {
        match self.lines.next().await {
            Ok(line) => line.map(|line| self.judge(line)),
            Err(error) => {
                let fault = Fault::new(FaultKind::ConnectionLost, "the server's output cannot be read");
                Some(Err(fault.with_detail(error.to_string())))
            }
        }
    }

    /// The next line, if it is already buffered.
    fn next_buffered(&mut self) -> Option<Result<Line, Fault>> {
        let line = self.lines.next_buffered()?;
        Some(self.judge(line))
    }

    fn judge(&mut self, line: Line) -> Result<Line, Fault> {
        if let Line::Noise(text) = &line {
            self.noise += 1;
            if self.noise == 1 {
                let text = String::from_utf8_lossy(&text[..text.len().min(200)]);
                tracing::warn!(%text, "the server wrote a line to standard output that is not a JSON-RPC message; such lines are skipped");
            }
            if self.noise > NOISE_LIMIT {
                let fault =
                    format!("the server wrote more than {NOISE_LIMIT} lines that are not JSON-RPC messages");
                return Err(Fault::new(FaultKind::BadAnswer, fault));
            }
        }
        Ok(line)
    }
}

fn too_long(limit: usize) -> Fault {
    Fault::new(FaultKind::TooLarge, format!("the server sent a line longer than {limit} bytes"))
}

async fn fault_of_eof(link: &Duplex) -> Fault {
    let report = timeout(EXIT_WAIT, link.exit_report()).await;
    match report {
        Some(Some(report)) => {
            Fault::new(FaultKind::ServerExited, "the server's process ended").with_detail(report)
        }
        _ => Fault::new(FaultKind::ConnectionLost, "the server closed its output"),
    }
}
