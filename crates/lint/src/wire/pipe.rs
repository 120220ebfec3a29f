//! A server over standard input and output.

use super::{
    dial::{DialError, Pair},
    inbox::Inbox,
};
use crate::evidence::{Departed, Direction};
use bytes::Bytes;
use std::time::Duration;
use tokio::{io::AsyncRead, task::JoinHandle, time::Instant};
use trunkline_process::{Command, GracePeriods, ShutdownStep};
use trunkline_transport::{
    child::{ChildLimits, ChildProcess},
    stdio::{FrameReader, FrameWriter, Line as Read, QueueLimits},
};

/// Number of stderr lines kept as evidence.
const STDERR_LINES: usize = 20;

/// Time for a server to exit after EOF on its input; a longer time is a finding. Servers that send
/// their last telemetry first need some seconds.
pub(super) const LEAVE: Duration = Duration::from_secs(10);

/// The same for further processes of a server.
pub(super) const SHORT_LEAVE: Duration = Duration::from_secs(3);

/// Time for the children of an exited server to exit.
pub(super) const CHILDREN: Duration = Duration::from_secs(2);

/// Time to read the last output of an exited process.
const LAST_WORDS: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct PipeLine {
    child: Option<ChildProcess>,
    writer: FrameWriter,
    reading: JoinHandle<()>,
    inbox: Inbox,
}

impl PipeLine {
    pub(crate) fn start(command: &Command, limits: ChildLimits, inbox: &Inbox) -> Result<Self, DialError> {
        let (child, reader) = ChildProcess::spawn(command, limits).map_err(DialError::from_error)?;
        let writer = child.writer.clone();
        let reading = tokio::spawn(read(reader, inbox.clone()));
        Ok(Self { child: Some(child), writer, reading, inbox: inbox.clone() })
    }

    pub(crate) fn over((source, sink): Pair, inbox: &Inbox) -> Self {
        let writer = FrameWriter::new(sink, QueueLimits::default());
        let reading = tokio::spawn(read(FrameReader::new(source), inbox.clone()));
        Self { child: None, writer, reading, inbox: inbox.clone() }
    }

    pub(crate) async fn send(&self, frame: Bytes) -> Result<(), String> {
        self.writer.send(frame).await.map_err(|error| error.to_string())
    }

    /// The pid, if there is a process.
    pub(crate) fn process(&self) -> Option<i32> {
        self.child.as_ref().map(|child| child.process.id())
    }

    /// Records the exit status if the process has exited.
    pub(crate) async fn note_ending(&self) {
        let Some(child) = &self.child else { return };
        if let Ok(ending) = tokio::time::timeout(LAST_WORDS, child.process.wait()).await {
            self.inbox.edit(|line| {
                if let Some(ended) = &mut line.ended {
                    ended.how = ending.to_string();
                }
            });
        }
    }

    /// Closes the input and records how the process exits.
    pub(crate) async fn finish(mut self, patience: GracePeriods) {
        let ended_before = self.inbox.has_ended();
        if ended_before {
            self.note_ending().await;
        }
        self.inbox.close();
        let Some(child) = self.child.take() else {
            self.writer.close().await.ok();
            tokio::time::timeout(LAST_WORDS, &mut self.reading).await.ok();
            self.reading.abort();
            if !ended_before {
                self.inbox.edit(|line| line.ended = None);
            }
            return;
        };
        let stderr = child.process.stderr().clone();
        let began = Instant::now();
        let departure = child.shutdown(patience).await;
        let after = (departure.rung == ShutdownStep::EndOfInput).then(|| began.elapsed());
        // A server that was killed had no chance to end its children.
        let left_behind = departure.survivors.filter(|_| after.is_some());
        tokio::time::timeout(LAST_WORDS, &mut self.reading).await.ok();
        self.reading.abort();
        self.inbox.edit(|line| {
            if !ended_before {
                line.ended = None;
                line.departed = Some(Departed { after, how: departure.ending.to_string(), left_behind });
            }
            line.stderr = stderr.last_lines(STDERR_LINES).join("\n");
        });
    }
}

async fn read<R: AsyncRead + Unpin>(mut reader: FrameReader<R>, inbox: Inbox) {
    loop {
        match reader.next().await {
            Ok(Some(Read::Frame(bytes))) => {
                // A line that begins like JSON and is invalid counts as noise.
                let json = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok();
                inbox.keep(if json { Direction::Received } else { Direction::Noise }, &bytes);
            }
            Ok(Some(Read::Noise(bytes))) => {
                inbox.keep(Direction::Noise, &bytes);
            }
            Ok(Some(Read::TooLong { head, .. } | Read::OutOfMemory { head })) => {
                inbox.keep(Direction::Noise, &head);
            }
            Ok(None) => return inbox.end("closed its output"),
            Err(error) => return inbox.end(format!("failed to write its output: {error}")),
        }
    }
}
