//! A running program.

use std::{path::Path, process::Stdio, sync::Arc};

use rustix::process::{Pid, Signal};
use tokio::{
    process::{ChildStderr, ChildStdin, ChildStdout},
    signal::unix::{SignalKind, signal},
    sync::watch,
    task::JoinSet,
};

use crate::{
    command::Command,
    ending::Ending,
    group::Group,
    head_tail::Keep,
    monitor::{Exit, Monitor},
    spawn_error::SpawnError,
    stream::Stream,
};

/// A running program. Dropping it kills the program and its group; [`shutdown`](Self::shutdown)
/// lets it exit by itself first.
#[derive(Debug)]
pub struct Process {
    pub(crate) group: Arc<Group>,
    stderr: Stream,
    pub(crate) exit: watch::Receiver<Option<Exit>>,
}

/// A program that has just been started, with its pipes.
pub(crate) struct Started {
    pub(crate) monitor: Monitor,
    pub(crate) process: Process,
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: ChildStdout,
}

impl Process {
    /// Starts `command` on the current runtime, which must have I/O and time enabled. The caller
    /// gets stdin and stdout; stderr is read here, and its last `stderr_tail` bytes are kept.
    pub fn spawn(
        command: &Command,
        stderr_tail: usize,
    ) -> Result<(Self, ChildStdin, ChildStdout), SpawnError> {
        let started = Self::start(command, Stdio::piped(), None, Keep::tail(stderr_tail))?;
        tokio::spawn(started.monitor.run(std::future::pending()));
        Ok((started.process, started.stdin.expect("stdin was asked to be piped"), started.stdout))
    }

    pub(crate) fn start(
        command: &Command,
        stdin: Stdio,
        setup: Option<&str>,
        keep_stderr: Keep,
    ) -> Result<Started, SpawnError> {
        // Registered before the child can end.
        let child_ended = signal(SignalKind::child())
            .map_err(|error| SpawnError::from_system(Path::new(&command.program), error))?;
        let (mut child, kind) = command.start(stdin, setup)?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let leader = id.expect("a child that was not waited for has an id");
        let group = Arc::new(Group::new(leader, kind, command.containment.clone()));
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("stdout was asked to be piped");
        let errors: ChildStderr = child.stderr.take().expect("stderr was asked to be piped");
        let stderr = Stream::new(keep_stderr);
        let mut pipes = JoinSet::new();
        pipes.spawn(stderr.clone().drain(errors));
        let (exit_in, exit) = watch::channel(None);
        let grace = command.grace;
        let monitor = Monitor { child, group: group.clone(), child_ended, pipes, grace, exit: exit_in };
        Ok(Started { monitor, process: Self { group, stderr, exit }, stdin, stdout })
    }

    /// The process id, which is also that of the group.
    pub fn id(&self) -> i32 {
        self.group.leader().as_raw_nonzero().get()
    }

    /// Its stderr.
    pub fn stderr(&self) -> &Stream {
        &self.stderr
    }

    /// Waits until it has ended, its group is killed and its stderr is read.
    ///
    /// Its remaining stdout can still be read. Cancel safe; may be called any number of times.
    pub async fn wait(&self) -> Ending {
        self.exit().await.map_or(Ending::Unknown, |exit| exit.ending)
    }

    /// Its ending; `None` while it runs.
    pub fn try_wait(&self) -> Option<Ending> {
        self.exit.borrow().as_ref().map(|exit| exit.ending)
    }

    /// `None` if the runtime of its monitor task was shut down.
    pub(crate) async fn exit(&self) -> Option<Exit> {
        self.exit.clone().wait_for(Option::is_some).await.ok().and_then(|exit| exit.clone())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.group.signal(Signal::KILL);
    }
}
