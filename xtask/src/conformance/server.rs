//! The server that the suites call, as a separate process.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal};

use crate::process::shown;
use crate::workspace::Workspace;

pub(crate) const SERVER_EXAMPLE: &str = "conformance-server";

/// A running server; it is stopped on drop.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    process: Child,
    pub(crate) url: String,
}

impl ServerProcess {
    /// Starts the example on a free port. Its first line of output holds its URL.
    pub(super) fn start(workspace: &Workspace) -> Result<Self> {
        Self::example(workspace, "both")
    }

    /// The same, for clients of one era only.
    pub(crate) fn example(workspace: &Workspace, era: &str) -> Result<Self> {
        let mut command = Command::new(workspace.example(SERVER_EXAMPLE));
        command.args(["--listen", "127.0.0.1:0", "--era", era]);
        Self::read(command, |line| line.trim().strip_prefix("listening on ").map(str::to_owned))
    }

    /// Starts a program; `url` extracts its URL from its first line of output.
    pub(crate) fn read(mut command: Command, url: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let shown = shown(&command);
        let mut process = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("`{shown}` could not be started"))?;
        let output = process.stdout.take().context("its output was piped")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        if let Some(url) = url(&line) {
            return Ok(Self { process, url });
        }
        drop(process.kill());
        drop(process.wait());
        bail!("`{shown}` printed no URL in its first line, but {line:?}")
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // SIGTERM first, so that it can stop its own children. It may have exited already; then
        // the suite has reported a failure.
        if let Some(pid) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
            rustix::process::kill_process(pid, Signal::TERM).ok();
        }
        for _ in 0..40 {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
