//! A program that runs.

use std::{sync::Arc, time::Duration};

use rustix::process::Pid;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};
use trunkline_resilience::Moment;

use super::{
    ending::Ending,
    group::Group,
    head_tail::Captured,
    pipes::Stream,
    program::Program,
    run_error::RunError,
    supervisor::{Supervisor, feed},
};

/// A program that runs. Dropping it kills the program and its group.
#[derive(Debug)]
pub struct Running {
    group: Arc<Group>,
    stdout: Stream,
    stderr: Stream,
    kill: watch::Sender<bool>,
    ending: watch::Receiver<Option<Ending>>,
    started: Moment,
}

/// A program that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// What it wrote to stdout.
    pub stdout: Captured,
    /// What it wrote to stderr.
    pub stderr: Captured,
    /// How long it ran.
    pub elapsed: Duration,
}

impl Running {
    pub(super) fn start(mut program: Program) -> Result<Self, RunError> {
        tracing::debug!(program = %program.path().display(), "starting");
        // Listening must begin before the child can end.
        let child_ended = signal(SignalKind::child()).map_err(|error| program.failed(error))?;
        let mut child = program.command().spawn().map_err(|error| program.failed(error))?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let group = Arc::new(Group::new(id.expect("a child that was not waited for has an id")));
        let stdout = Stream::new(program.limits.stdout);
        let stderr = Stream::new(program.limits.stderr);
        let readers = [
            stdout.read(child.stdout.take().expect("stdout was asked to be piped")),
            stderr.read(child.stderr.take().expect("stderr was asked to be piped")),
        ];
        let writer = child.stdin.take().map(|stdin| feed(stdin, std::mem::take(&mut program.input)));
        let (ending_in, ending) = watch::channel(None);
        let (kill, killed) = watch::channel(false);
        let supervisor = Supervisor {
            child,
            group: group.clone(),
            child_ended,
            readers,
            writer,
            stdout: stdout.clone(),
            killed,
            ending: ending_in,
        };
        let started = Moment::now();
        tokio::spawn(supervisor.run(started + program.limits.deadline, program.limits.overflow));
        Ok(Self { group, stdout, stderr, kill, ending, started })
    }

    /// The process id, which is also that of the group.
    pub fn id(&self) -> i32 {
        self.group.leader().as_raw_nonzero().get()
    }

    /// What it wrote to stdout by now.
    pub fn stdout(&self) -> Captured {
        self.stdout.captured()
    }

    /// What it wrote to stderr by now.
    pub fn stderr(&self) -> Captured {
        self.stderr.captured()
    }

    /// How it ended; `None` while it runs.
    pub fn try_wait(&self) -> Option<Ending> {
        *self.ending.borrow()
    }

    /// Kills it and its group. [`Self::wait`] then tells [`Ending::Killed`].
    pub fn kill(&self) {
        self.kill.send_replace(true);
    }

    /// Waits until it has ended. By then its group is gone and its streams have been read. Cancel safe; may be
    /// called any number of times.
    pub async fn wait(&self) -> Finished {
        let mut ending = self.ending.clone();
        let ending = ending.wait_for(Option::is_some).await.ok().and_then(|ending| *ending);
        Finished {
            ending: ending.unwrap_or(Ending::Unknown),
            stdout: self.stdout(),
            stderr: self.stderr(),
            elapsed: self.started.elapsed(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.group.kill();
    }
}
