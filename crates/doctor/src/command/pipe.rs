//! A process and a bounded record of the lines it reads and writes.

use super::directory;
use crate::{
    cause::Cause,
    diagnosis::Problem,
    evidence::{Evidence, Kind},
    examination::{Checked, passed},
    frames,
    options::DoctorOptions,
};
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio::process::ChildStdout;
use trunkline_client::CommandLine;
use trunkline_process::{Ending, GracePeriods, SpawnError};
use trunkline_transport::{
    child::{ChildLimits, ChildProcess},
    stdio::{FrameReader, Line},
};

/// Maximum number of noise lines and of unrelated messages that are kept.
const MOST_LINES: usize = 40;
/// Number of stderr lines that are shown.
const LAST_LINES: usize = 12;
/// Grace period after EOF, and again after SIGTERM.
const EXIT_GRACE: Duration = Duration::from_millis(500);
/// Time to wait for the exit status after EOF on the process's output.
const EXIT_STATUS_WAIT: Duration = Duration::from_secs(2);

pub(super) struct Pipe {
    child: ChildProcess,
    reader: FrameReader<ChildStdout>,
    pub(super) written: Transcript,
    pub(super) started: Instant,
}

/// The record of what was sent, and of output other than answers.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    pub(super) sent: Vec<Value>,
    /// Lines that are not JSON.
    pub(super) noise: Vec<String>,
    /// JSON that answers none of our requests.
    pub(super) strays: Vec<Value>,
    /// The beginning of a line that exceeded the limit.
    pub(super) endless: Option<String>,
}

/// The outcome of waiting for an answer.
#[derive(Debug)]
pub(super) enum ReadOutcome {
    /// The answer to the request with this id.
    Answer(u64, Value),
    Silence,
    Ended(Ending),
}

pub(super) fn start(line: &CommandLine, options: &DoctorOptions) -> Checked<Pipe> {
    let command = line.command(&options.environment).directory(directory(line, options));
    let limits = ChildLimits { line: options.limits.bytes, ..ChildLimits::default() };
    let started = Instant::now();
    let (child, reader) =
        ChildProcess::spawn(&command, limits).map_err(|error| Box::new(unstartable(&error)))?;
    let detail = format!("process {}", child.process.id());
    passed(Pipe { child, reader, written: Transcript::default(), started }, detail)
}

impl Pipe {
    /// Sends a request.
    pub(super) async fn send(&mut self, frame: Value) {
        // A failed write needs no error here: the wait that follows sees EOF or the exit.
        self.child.writer.send(frame.to_string().into()).await.ok();
        self.written.sent.push(frame);
    }

    /// Waits for the answer to any of these requests.
    pub(super) async fn receive(&mut self, ids: &[u64], patience: Duration) -> ReadOutcome {
        let waiting = async {
            loop {
                let Ok(Some(line)) = self.reader.next().await else {
                    let ending = tokio::time::timeout(EXIT_STATUS_WAIT, self.child.process.wait()).await;
                    return ReadOutcome::Ended(ending.unwrap_or(Ending::Unknown));
                };
                if let Some(outcome) = self.written.take(line, ids) {
                    return outcome;
                }
            }
        };
        tokio::time::timeout(patience, waiting).await.unwrap_or(ReadOutcome::Silence)
    }

    /// Closes the process's input, and waits for an answer after that.
    pub(super) async fn receive_after_eof(&mut self, ids: &[u64], patience: Duration) -> ReadOutcome {
        // Fails only if the process has already closed its input.
        self.child.writer.close().await.ok();
        self.receive(ids, patience).await
    }

    pub(super) fn stderr(&self) -> Vec<String> {
        self.child.process.stderr().last_lines(LAST_LINES)
    }

    pub(super) fn all_stderr(&self) -> String {
        self.child.process.stderr().captured().tail_text()
    }

    /// Ends the process: EOF, then SIGTERM, then SIGKILL, with short grace periods.
    pub(super) async fn end(self) {
        self.child.shutdown(GracePeriods { eof: EXIT_GRACE, term: EXIT_GRACE }).await;
    }
}

impl Transcript {
    fn take(&mut self, line: Line, ids: &[u64]) -> Option<ReadOutcome> {
        match line {
            Line::Noise(bytes) => self.add_noise(&bytes),
            Line::TooLong { head, .. } | Line::OutOfMemory { head } => {
                self.endless.get_or_insert_with(|| String::from_utf8_lossy(&head).into_owned());
            }
            Line::Frame(bytes) => match serde_json::from_slice::<Value>(&bytes) {
                Ok(message) => {
                    if let Some(id) = ids.iter().find(|id| frames::answers(&message, **id)) {
                        return Some(ReadOutcome::Answer(*id, message));
                    }
                    if self.strays.len() < MOST_LINES {
                        self.strays.push(message);
                    }
                }
                Err(_) => self.add_noise(&bytes),
            },
        }
        None
    }

    fn add_noise(&mut self, bytes: &[u8]) {
        if self.noise.len() < MOST_LINES {
            self.noise.push(String::from_utf8_lossy(bytes).into_owned());
        }
    }

    /// The sent frames, as evidence.
    pub(super) fn sent(&self) -> Vec<Evidence> {
        self.sent.iter().map(|frame| Evidence::new(Kind::Sent, frame.to_string())).collect()
    }
}

fn unstartable(error: &SpawnError) -> Problem {
    let source = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let cause = match error {
        SpawnError::NotFound { .. } => Cause::ProgramNotFound,
        SpawnError::NotExecutable { .. } => Cause::NotExecutable,
        SpawnError::BadWorkingDirectory { .. } => Cause::WorkingDirectoryMissing,
        _ => Cause::CannotSpawn,
    };
    Problem::new(cause, error.to_string())
        .proof(Evidence::fact(format!("the system says: {source}")))
        .fix("ulimit -a    # how many processes, descriptors and how much memory you may have")
}
