//! A supervisor: a process of our own between this process and a program.
//!
//! On Linux a *subreaper* is the new parent of every descendant whose own parent has ended. The
//! supervisor is one, so a program that forks twice, starts a session and clears its environment
//! still is its descendant. It kills all descendants when the program ends, when this process
//! asks for it, and when this process ends. This process is a subreaper, too: if a program kills
//! its supervisor, the rest becomes our children, and is killed here.

#[cfg(target_os = "linux")]
mod child;

use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::BTreeSet,
    io::{self, PipeReader, PipeWriter, Read as _},
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use rustix::io::{FdFlags, fcntl_setfd};

#[cfg(target_os = "linux")]
pub use child::supervise;

/// The first argument of a process that is to call [`supervise`].
pub const SUPERVISE: &str = "__supervise";

/// The way in which programs are kept from leaving their process tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// A supervisor for each program: none of its processes outlives it.
    Supervisor,
    /// Process groups only: a process that starts its own session escapes.
    Group,
}

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

static CHILDREN: Mutex<Children> = Mutex::new(Children(BTreeSet::new()));

/// The processes that this process has started and not yet waited for. Held while one is started,
/// so that none is missing here, and no other one inherits its pipe.
pub(crate) struct Children(BTreeSet<i32>);

/// Starts programs below a supervisor from now on, unless their
/// [`Containment`](crate::Containment) says otherwise. `program` must call [`supervise`] if its
/// first argument is [`SUPERVISE`].
#[cfg(target_os = "linux")]
pub fn use_supervisor(program: PathBuf) -> io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    PROGRAM.set(program).ok();
    Ok(())
}

/// The means in force.
pub fn means() -> Means {
    if program().is_some() { Means::Supervisor } else { Means::Group }
}

pub(crate) fn program() -> Option<&'static Path> {
    PROGRAM.get().map(PathBuf::as_path)
}

pub(crate) fn children() -> MutexGuard<'static, Children> {
    CHILDREN.lock()
}

impl Children {
    pub(crate) fn add(&mut self, pid: u32) {
        self.0.extend(i32::try_from(pid));
    }

    pub(crate) fn remove(&mut self, pid: i32) {
        self.0.remove(&pid);
    }
}

/// Kills and reaps processes that became our children because their supervisor was killed. Reads
/// `/proc`, so it may block.
#[cfg(target_os = "linux")]
pub(crate) fn kill_strays() {
    use crate::proc_scan;
    use rustix::process::{Pid, WaitOptions, waitpid};

    let children = children();
    for _ in 0..crate::group::SWEEPS {
        let (direct, all) = proc_scan::strays(&children.0);
        proc_scan::kill(&all);
        for pid in direct.into_iter().filter_map(Pid::from_raw) {
            // A zombie that is left is reaped by the next pass.
            waitpid(Some(pid), WaitOptions::NOHANG).ok();
        }
        if all.is_empty() {
            return;
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn kill_strays() {}

/// The pipe on which a supervisor reports that its program cannot be started: the number of the
/// error, or nothing.
pub(crate) struct Report {
    reader: PipeReader,
    writer: PipeWriter,
}

impl Report {
    /// The writer is inherited by every process that is started before [`Self::read`]. Call it
    /// with [`Children`] locked.
    pub(crate) fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        fcntl_setfd(&writer, FdFlags::empty())?;
        Ok(Self { reader, writer })
    }

    /// The descriptor of the writer.
    pub(crate) fn descriptor(&self) -> i32 {
        self.writer.as_raw_fd()
    }

    /// Closes the writer.
    pub(crate) fn close(self) -> PipeReader {
        self.reader
    }
}

/// Waits until the program has started or cannot be started.
pub(crate) fn outcome(mut report: PipeReader) -> io::Result<()> {
    let mut text = String::new();
    report.read_to_string(&mut text)?;
    match text.parse() {
        Ok(errno) => Err(io::Error::from_raw_os_error(errno)),
        Err(_) => Ok(()),
    }
}
