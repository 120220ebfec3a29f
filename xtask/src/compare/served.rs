//! `Served`: a faulty server that a linter can reach, as a command or at an address.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::fault::{Fault, Over};

/// Number of connection attempts to a started server, and the pause between them.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(25);

#[derive(Debug)]
pub(super) enum Served {
    /// A program without arguments, for linters that cannot pass arguments.
    Program(PathBuf),
    Url(String, #[expect(dead_code, reason = "dropping it kills the process")] Running),
}

/// A process that is killed on drop.
#[derive(Debug)]
pub(super) struct Running(Child);

impl Served {
    pub(super) fn start(server: &Path, fault: &Fault, folder: &Path) -> Result<Self> {
        let script = folder.join("server.json");
        fs::write(&script, fault.server.to_string())?;
        match fault.over() {
            Over::Stdio => {
                let program = folder.join("server.sh");
                let text = format!("#!/bin/sh\nexec '{}' '{}'\n", server.display(), script.display());
                fs::write(&program, text)?;
                fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
                Ok(Self::Program(program))
            }
            Over::Http => listen(server, &script, "127.0.0.1"),
            Over::HttpEverywhere => listen(server, &script, "0.0.0.0"),
        }
    }

    /// The argument for a linter that accepts a program or a URL.
    pub(super) fn word(&self) -> String {
        match self {
            Self::Program(path) => path.display().to_string(),
            Self::Url(url, _) => url.clone(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have exited already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn listen(server: &Path, script: &Path, host: &str) -> Result<Served> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut command = Command::new(server);
    command.arg(script).args(["--http", &format!("{host}:{port}")]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let running = Running(command.spawn().context("the faulty server could not be started")?);
    for _ in 0..TRIES {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Ok(Served::Url(format!("http://127.0.0.1:{port}/mcp"), running));
        }
        thread::sleep(PAUSE);
    }
    bail!("the faulty server does not listen on port {port}")
}
