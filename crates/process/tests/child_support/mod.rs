//! Shared by the tests that talk to real processes.

use std::{io::ErrorKind, ops::Deref, time::Duration};

use rustix::process::{Pid, test_kill_process};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{ChildStdin, ChildStdout},
    time::timeout,
};
use trunkline_process::{Command, Process, SpawnError};

/// Long enough for any machine; reached only when a test fails.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// A process with its stdin.
#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) process: Process,
    pub(crate) stdin: ChildStdin,
}

pub(crate) type Reader = BufReader<ChildStdout>;

impl Deref for Child {
    type Target = Process;

    fn deref(&self) -> &Process {
        &self.process
    }
}

/// A child that runs `script`.
pub(crate) fn sh(script: &str) -> Command {
    Command::new("/bin/sh").args(["-c", script]).envs([("PATH", "/usr/bin:/bin")])
}

pub(crate) fn spawn(command: &Command) -> Result<(Child, Reader), SpawnError> {
    let (process, stdin, stdout) = Process::spawn(command, 64 * 1024)?;
    Ok((Child { process, stdin }, BufReader::new(stdout)))
}

pub(crate) fn start(command: &Command) -> (Child, Reader) {
    loop {
        match spawn(command) {
            // A child that another test is starting holds the new script open for writing until
            // exec.
            Err(SpawnError::Resource { source, .. }) if source.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::yield_now();
            }
            started => return started.unwrap(),
        }
    }
}

/// The next line of a child; `None` at EOF.
pub(crate) async fn line(reader: &mut Reader) -> Option<String> {
    let mut line = String::new();
    let read = timeout(LONG, reader.read_line(&mut line)).await.expect("the child writes something in time");
    (read.unwrap() > 0).then(|| line.trim_end_matches('\n').to_owned())
}

/// True if the process exists and is not a zombie.
pub(crate) fn alive(pid: i32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let zombie = state.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
    test_kill_process(Pid::from_raw(pid).unwrap()).is_ok() && !zombie
}

/// Waits until a process has ended that is not our child, so there is no event to wait for.
pub(crate) async fn until_gone(pid: i32) {
    let gone = async {
        while alive(pid) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LONG, gone).await.unwrap_or_else(|_| panic!("process {pid} is still there"));
}
