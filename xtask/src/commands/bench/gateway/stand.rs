//! Stand: somebody who stands before the upstream, and how callers reach it.

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

/// How long somebody who is asked to end may take, before it is ended.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked after meanwhile.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Stand {
    pub(super) name: String,
    pub(super) way: Way,
    /// What the upstream's tools are called here.
    pub(super) echo: String,
    pub(super) blob: String,
    /// What else the load must be told.
    pub(super) load: Vec<String>,
    /// Declared last, so that it goes after whoever writes there.
    pub(super) scratch: Option<Scratch>,
}

/// A folder that is removed with this.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

/// How callers reach it.
#[derive(Debug)]
pub(super) enum Way {
    /// There is nobody before the upstream.
    Upstream,
    /// It listens.
    Listening(Running),
    /// Callers start it and share its pipes.
    Command(String),
}

/// A process that listens; it ends with this, and so does what it started.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    url: String,
}

impl Stand {
    pub(super) fn named(name: &str, way: Way) -> Self {
        let (echo, blob) = ("echo".to_owned(), "blob".to_owned());
        Self { name: name.to_owned(), way, echo, blob, load: Vec::new(), scratch: None }
    }

    /// Tools have longer names here.
    pub(super) fn prefix(&mut self, prefix: &str) {
        self.echo.insert_str(0, prefix);
        self.blob.insert_str(0, prefix);
    }

    /// Tells a load where to go and whose time to count.
    pub(super) fn show(&self, upstream: &Running, load: &mut Command) {
        match &self.way {
            Way::Upstream => load.args(["--url", &upstream.url]),
            Way::Command(command) => load.args(["--stdio", command]),
            Way::Listening(running) => {
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

    pub(super) fn url(&self) -> String {
        self.url.clone()
    }

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        let address = self.url.trim_start_matches("http://").split('/').next().unwrap_or_default();
        address.parse().expect("the url was made from an address")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Asked and not killed, so that it can end what it started. Signals fail only for groups that are gone already.
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let signal = |signal| group.map(|group| kill_process_group(group, signal).ok());
        signal(Signal::TERM);
        let asked = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && asked.elapsed() < PATIENCE {
            thread::sleep(LOOK);
        }
        signal(Signal::KILL);
        drop(self.child.wait());
    }
}

pub(super) fn is_on_path(program: &str) -> bool {
    env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}
