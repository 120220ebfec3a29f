//! A running hop in front of the upstream, and how callers reach it.

use std::env;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::process;

/// Grace period between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(5);
/// Interval at which the process is polled during the grace period.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Hop {
    pub(super) name: String,
    pub(super) access: Access,
    /// Names of the upstream's tools as this hop exposes them.
    pub(super) echo: String,
    pub(super) blob: String,
    /// Additional arguments of the load generator.
    pub(super) load: Vec<String>,
    /// Declared last, so that it is dropped after the process that writes there.
    pub(super) scratch: Option<Scratch>,
}

/// A temporary folder; it is removed on drop.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

/// The way of callers to the hop.
#[derive(Debug)]
pub(super) enum Access {
    /// No hop: callers connect to the upstream.
    Upstream,
    /// A process that listens on an address.
    Listening(Running),
    /// Callers start it and share its pipes.
    Command(String),
}

/// A listening process; dropping this stops its whole process group.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    url: String,
}

impl Hop {
    pub(super) fn named(name: &str, access: Access) -> Self {
        let (echo, blob) = ("echo".to_owned(), "blob".to_owned());
        Self { name: name.to_owned(), access, echo, blob, load: Vec::new(), scratch: None }
    }

    /// Adds a prefix to the names of the tools.
    pub(super) fn prefix(&mut self, prefix: &str) {
        self.echo.insert_str(0, prefix);
        self.blob.insert_str(0, prefix);
    }

    /// Adds the target and the processes to measure to the load generator's arguments.
    pub(super) fn add_arguments(&self, upstream: &Running, load: &mut Command) {
        match &self.access {
            Access::Upstream => load.args(["--url", &upstream.url]),
            Access::Command(command) => load.args(["--stdio", command]),
            Access::Listening(running) => {
                load.args(["--url", &running.url, "--pid", &running.child.id().to_string()])
            }
        };
        load.args(["--upstream-pid", &upstream.child.id().to_string()]).args(&self.load);
    }
}

impl Scratch {
    pub(super) fn make(name: &str) -> Result<Self> {
        let folder = env::temp_dir().join(format!("trunkline-bench-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            println!("{} could not be removed: {error}", self.0.display());
        }
    }
}

impl Running {
    pub(super) fn start(mut command: Command, url: String) -> Result<Self> {
        let shown = process::shown(&command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let child = command.spawn().with_context(|| format!("`{shown}` could not be started"))?;
        Ok(Self { child, url })
    }

    /// Its process group, which has its id.
    pub(super) fn group(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn url(&self) -> String {
        self.url.clone()
    }

    /// The address that it listens on.
    pub(super) fn address(&self) -> SocketAddr {
        let rest = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        let address = rest.split('/').next().unwrap_or_default();
        address.parse().expect("the url was made from an address")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // SIGTERM first, so that it can stop its own children. Signals fail only for groups that
        // have already exited.
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let signal = |signal| group.map(|group| kill_process_group(group, signal).ok());
        signal(Signal::TERM);
        let signalled = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && signalled.elapsed() < GRACE {
            thread::sleep(POLL_INTERVAL);
        }
        signal(Signal::KILL);
        drop(self.child.wait());
    }
}

pub(super) fn is_on_path(program: &str) -> bool {
    env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}
