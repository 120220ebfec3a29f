//! Running a program to its end within limits.

use std::{path::Path, process::Stdio, sync::Arc, time::Duration};

use tokio::{io::AsyncWriteExt, process::ChildStdin, sync::watch, task::spawn_blocking, time::sleep};
use trunkline_resilience::{Deadline, Moment};

use crate::{
    command::Command,
    ending::Ending,
    group::Group,
    head_tail::Captured,
    limits::{Limits, Overflow},
    process::{Process, Started},
    spawn_error::SpawnError,
    stream::Stream,
};

/// Interval of the checks of processes and memory.
const COUNT_INTERVAL: Duration = Duration::from_millis(250);

/// A program that runs within limits. Dropping it kills the program and its group.
#[derive(Debug)]
pub struct Running {
    process: Process,
    stdout: Stream,
    kill: watch::Sender<bool>,
    started: Moment,
}

/// A program that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub ending: Ending,
    /// Its stdout.
    pub stdout: Captured,
    /// Its stderr.
    pub stderr: Captured,
    /// Its run time.
    pub elapsed: Duration,
}

impl Command {
    /// Runs it to its end with `input` on stdin. Dropping the future kills it.
    pub async fn run(&self, limits: &Limits, input: impl Into<Vec<u8>>) -> Result<Finished, SpawnError> {
        Ok(self.begin(limits, input)?.wait().await)
    }

    /// Starts it on the current runtime, which must have I/O and time enabled. The program must be
    /// an absolute path.
    pub fn begin(&self, limits: &Limits, input: impl Into<Vec<u8>>) -> Result<Running, SpawnError> {
        if !Path::new(&self.program).is_absolute() {
            return Err(SpawnError::NotAbsolute { program: self.program.clone() });
        }
        let input = input.into();
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        let Started { mut monitor, process, stdin, stdout: output } =
            Process::start(self, stdin, limits.shell_setup().as_deref(), limits.stderr)?;
        let stdout = Stream::new(limits.stdout);
        monitor.pipes.spawn(stdout.clone().drain(output));
        if let Some(stdin) = stdin {
            monitor.pipes.spawn(feed(stdin, input));
        }
        let (kill, mut killed) = watch::channel(false);
        let started = Moment::now();
        let late = Deadline::at(started + limits.deadline);
        let too_much = exceeded(monitor.group.clone(), limits.tree_memory, limits.processes);
        let overflowed = overflow(stdout.clone(), limits.overflow);
        tokio::spawn(monitor.run(async move {
            tokio::select! {
                biased;
                () = late => Ending::Deadline,
                () = overflowed => Ending::Overflow,
                ending = too_much => ending,
                // An error means that the handle was dropped.
                _ = killed.wait_for(|killed| *killed) => Ending::Killed,
            }
        }));
        Ok(Running { process, stdout, kill, started })
    }
}

impl Running {
    /// The process id, which is also that of the group.
    pub fn id(&self) -> i32 {
        self.process.id()
    }

    /// Its stdout so far.
    pub fn stdout(&self) -> Captured {
        self.stdout.captured()
    }

    /// Its stderr so far.
    pub fn stderr(&self) -> Captured {
        self.process.stderr().captured()
    }

    /// Its ending; `None` while it runs.
    pub fn try_wait(&self) -> Option<Ending> {
        self.process.try_wait()
    }

    /// Kills it and its group. [`Self::wait`] then returns [`Ending::Killed`].
    pub fn kill(&self) {
        self.kill.send_replace(true);
    }

    /// Waits until it has ended, its group is killed and its streams are read. Cancel safe; may be
    /// called any number of times.
    pub async fn wait(&self) -> Finished {
        Finished {
            ending: self.process.wait().await,
            stdout: self.stdout(),
            stderr: self.stderr(),
            elapsed: self.started.elapsed(),
        }
    }
}

/// Writes `input` to the program, which may end without reading all of it.
async fn feed(mut stdin: ChildStdin, input: Vec<u8>) {
    if let Err(error) = stdin.write_all(&input).await {
        tracing::debug!(%error, "a program did not read all its input");
    }
}

async fn overflow(stdout: Stream, overflow: Overflow) {
    match overflow {
        Overflow::Stop => stdout.overflowed().await,
        Overflow::Drain => std::future::pending().await,
    }
}

/// Waits until the processes of a program together exceed a limit. Each check also records the
/// descendants of the group, so that they can be killed if they leave it.
async fn exceeded(group: Arc<Group>, memory: Option<u64>, processes: Option<usize>) -> Ending {
    if memory.is_none() && processes.is_none() && !group.needs_sweep() {
        std::future::pending::<()>().await;
    }
    loop {
        sleep(COUNT_INTERVAL).await;
        let group = group.clone();
        let Ok(usage) = spawn_blocking(move || group.usage()).await else { continue };
        if processes.is_some_and(|most| usage.processes > most) {
            return Ending::TooManyProcesses;
        }
        if memory.is_some_and(|most| usage.memory > most) {
            return Ending::TooMuchMemory;
        }
    }
}
