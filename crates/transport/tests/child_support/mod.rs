//! What the tests with real processes share.

use std::{io::ErrorKind, time::Duration};

use rustix::process::{Pid, test_kill_process};
use tokio::{process::ChildStdout, time::timeout};
use trunkline_transport::{
    child::{ChildCommand, ChildProcess, SpawnError},
    stdio::{FrameReader, Line},
};

/// Long enough for any machine; reached only when a test fails.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// A child that runs `script`.
pub(crate) fn sh(script: &str) -> ChildCommand {
    let mut command = ChildCommand::new("/bin/sh").args(["-c", script]);
    command.env.push(("PATH".into(), "/usr/bin:/bin".into()));
    command
}

pub(crate) fn start(command: &ChildCommand) -> (ChildProcess, FrameReader<ChildStdout>) {
    let mut child = loop {
        match ChildProcess::spawn(command) {
            // A child that another test starts at this moment holds a script that was just written open, until it is itself.
            Err(SpawnError::Resource { source, .. }) if source.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::yield_now();
            }
            started => break started.unwrap(),
        }
    };
    let reader = child.take_reader().unwrap();
    (child, reader)
}

/// The next line of a child, whatever it is.
pub(crate) async fn line(reader: &mut FrameReader<ChildStdout>) -> Option<String> {
    let line = timeout(LONG, reader.next()).await.expect("the child says something in time").unwrap()?;
    let (Line::Frame(bytes) | Line::Noise(bytes)) = line else {
        panic!("unexpected {line:?}");
    };
    Some(String::from_utf8(bytes.to_vec()).unwrap())
}

/// Whether the process exists and is more than a zombie that its new parent has not reaped yet.
pub(crate) fn alive(pid: i32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let zombie = state.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
    test_kill_process(Pid::from_raw(pid).unwrap()).is_ok() && !zombie
}

/// Waits until a process that is not our child is gone, which no event tells.
pub(crate) async fn until_gone(pid: i32) {
    let gone = async {
        while alive(pid) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LONG, gone).await.unwrap_or_else(|_| panic!("process {pid} is still there"));
}
