//! The server that the suites call, as a process of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;

pub(crate) const SERVER_EXAMPLE: &str = "conformance-server";

/// A running server; it ends with this value.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    process: Child,
    pub(super) url: String,
}

impl ServerProcess {
    /// Starts the example on a free port. Its first line says where it listens.
    pub(super) fn start(workspace: &Workspace) -> Result<Self> {
        let mut command = Command::new(workspace.example(SERVER_EXAMPLE));
        command.args(["--listen", "127.0.0.1:0"]).stdout(Stdio::piped());
        let mut process =
            command.spawn().with_context(|| format!("{SERVER_EXAMPLE} could not be started"))?;
        let output = process.stdout.take().context("its output was piped")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        match line.trim().strip_prefix("listening on ") {
            Some(url) => Ok(Self { process, url: url.to_owned() }),
            None => bail!("{SERVER_EXAMPLE} did not say where it listens, but {line:?}"),
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // It may have ended by itself, which the suite has noticed.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
