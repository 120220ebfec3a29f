//! A running server process and its three streams.

use std::{process::Stdio, sync::Arc};

use rustix::process::{Pid, Signal};
use tokio::{
    process::{ChildStdout, Command},
    signal::unix::{SignalKind, signal},
    sync::watch,
};

use super::{
    command::ChildCommand, ending::Ending, group::Group, lookup, monitor::Monitor, spawn_error::SpawnError,
    stderr_tail::StderrTail, survivors::Survivors,
};
use crate::stdio::{FrameReader, FrameWriter};

/// A running server process.
///
/// Ends it, group and all, when dropped; [`shutdown`](Self::shutdown) is the polite way.
#[derive(Debug)]
pub struct ChildProcess {
    pub(super) group: Arc<Group>,
    pub(super) writer: FrameWriter,
    reader: Option<FrameReader<ChildStdout>>,
    stderr: StderrTail,
    ending: watch::Receiver<Option<Ending>>,
    survivors: Survivors,
}

impl ChildProcess {
    /// Starts `command` on the current runtime, which must have I/O and time enabled.
    pub fn spawn(command: &ChildCommand) -> Result<Self, SpawnError> {
        let path = lookup::find(command)?;
        let failed = |error| SpawnError::from_system(&path, error);
        let child_ended = signal(SignalKind::child()).map_err(failed)?;
        let mut system = Command::new(&path);
        system.arg0(&command.program).args(&command.args).env_clear().envs(command.environment());
        system.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        system.process_group(0).kill_on_drop(true);
        if let Some(directory) = &command.directory {
            system.current_dir(directory);
        }
        let mut child = system.spawn().map_err(failed)?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let group = Arc::new(Group::new(id.expect("a child that was not waited for has an id")));
        let stdin = child.stdin.take().expect("stdin was asked to be piped");
        let stdout = child.stdout.take().expect("stdout was asked to be piped");
        let errors = child.stderr.take().expect("stderr was asked to be piped");
        let stderr = StderrTail::new(command.limits.stderr_tail);
        let (ending_in, ending) = watch::channel(None);
        let survivors = Survivors::default();
        let monitor = Monitor {
            child,
            group: group.clone(),
            child_ended,
            stderr: tokio::spawn(stderr.clone().drain(errors)),
            ending: ending_in,
            survivors: survivors.clone(),
            grace: command.grace,
        };
        tokio::spawn(monitor.run());
        Ok(Self {
            group,
            writer: FrameWriter::new(stdin, command.limits.queue),
            reader: Some(FrameReader::with_limit(stdout, command.limits.line)),
            stderr,
            ending,
            survivors,
        })
    }

    /// The process id, which is also that of the group.
    pub fn id(&self) -> i32 {
        self.group.leader().as_raw_nonzero().get()
    }

    /// A handle for writing to its stdin.
    pub fn writer(&self) -> FrameWriter {
        self.writer.clone()
    }

    /// The only reader of its stdout; `None` if it was taken before.
    pub fn take_reader(&mut self) -> Option<FrameReader<ChildStdout>> {
        self.reader.take()
    }

    /// What it wrote to stderr.
    pub fn stderr(&self) -> StderrTail {
        self.stderr.clone()
    }

    /// What it left behind, if its command has a grace.
    pub fn survivors(&self) -> Survivors {
        self.survivors.clone()
    }

    /// Waits until it has ended, and tells how. By then its group is gone and its stderr has been read.
    ///
    /// What it had written to stdout can still be read. Cancel safe; may be called any number of times.
    pub async fn wait(&self) -> Ending {
        let mut ending = self.ending.clone();
        ending.wait_for(Option::is_some).await.ok().and_then(|ending| *ending).unwrap_or(Ending::Unknown)
    }

    /// How it ended; `None` while it runs.
    pub fn try_wait(&self) -> Option<Ending> {
        *self.ending.borrow()
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.group.signal(Signal::KILL);
    }
}
