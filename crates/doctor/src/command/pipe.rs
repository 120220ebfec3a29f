//! A process and the raw lines that go in and come out, all written down within bounds.

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
use trunkline_process::{Ending, Patience, SpawnError};
use trunkline_transport::{
    child::{ChildLimits, ChildProcess},
    stdio::{FrameReader, Line},
};

/// Lines and strays that are kept.
const MOST_LINES: usize = 40;
/// Lines of standard error that are shown.
const LAST_LINES: usize = 12;
/// How long a process may take to leave, and how long the rest of its output is listened to.
const GOODBYE: Duration = Duration::from_millis(500);
/// How long a process whose output ended may take to end itself.
const DYING: Duration = Duration::from_secs(2);

pub(super) struct Pipe {
    child: ChildProcess,
    reader: FrameReader<ChildStdout>,
    pub(super) written: Transcript,
    pub(super) started: Instant,
}

/// What was said so far.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    pub(super) sent: Vec<Value>,
    /// Lines that are no JSON.
    pub(super) noise: Vec<String>,
    /// JSON that is no answer to what was asked.
    pub(super) strays: Vec<Value>,
    /// A line that never ended began like this.
    pub(super) endless: Option<String>,
}

/// What came back.
#[derive(Debug)]
pub(super) enum Heard {
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
        // A process that no longer reads shows by what it does next.
        self.child.writer.send(frame.to_string().into()).await.ok();
        self.written.sent.push(frame);
    }

    /// Waits for the answer to any of these requests.
    pub(super) async fn hear(&mut self, ids: &[u64], patience: Duration) -> Heard {
        let waiting = async {
            loop {
                let Ok(Some(line)) = self.reader.next().await else {
                    let ending = tokio::time::timeout(DYING, self.child.process.wait()).await;
                    return Heard::Ended(ending.unwrap_or(Ending::Unknown));
                };
                if let Some(heard) = self.written.take(line, ids) {
                    return heard;
                }
            }
        };
        tokio::time::timeout(patience, waiting).await.unwrap_or(Heard::Silence)
    }

    /// Ends its input, and listens to what comes then.
    pub(super) async fn hear_after_end(&mut self, ids: &[u64], patience: Duration) -> Heard {
        // A process that no longer reads cannot be told.
        self.child.writer.close().await.ok();
        self.hear(ids, patience).await
    }

    pub(super) fn stderr(&self) -> Vec<String> {
        self.child.process.stderr().last_lines(LAST_LINES)
    }

    pub(super) fn all_stderr(&self) -> String {
        self.child.process.stderr().captured().tail_text()
    }

    /// Ends the process, politely first; it has nothing to finish.
    pub(super) async fn end(self) {
        self.child.shutdown(Patience { eof: GOODBYE, term: GOODBYE }).await;
    }
}

impl Transcript {
    fn take(&mut self, line: Line, ids: &[u64]) -> Option<Heard> {
        match line {
            Line::Noise(bytes) => self.add_noise(&bytes),
            Line::TooLong { head, .. } => {
                self.endless.get_or_insert_with(|| String::from_utf8_lossy(&head).into_owned());
            }
            Line::Frame(bytes) => match serde_json::from_slice::<Value>(&bytes) {
                Ok(message) => {
                    if let Some(id) = ids.iter().find(|id| frames::answers(&message, **id)) {
                        return Some(Heard::Answer(*id, message));
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

    /// What was sent, as evidence.
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
