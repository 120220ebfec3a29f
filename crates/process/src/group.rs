//! Tracks the processes of one command, so that all of them can be counted and killed.

use parking_lot::Mutex;
use std::ffi::OsString;

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

use crate::{
    proc_scan::{self, ProcessSet, Usage},
    watchdog,
};

/// The variable that marks the processes of a command.
const MARK: &str = "TRUNKLINE_RUN";

/// Kill passes over remaining processes, which may start new ones meanwhile.
const SWEEPS: usize = 10;

/// The method of tracking the processes of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Containment {
    /// By its process group. A process that starts its own session, as daemons do, escapes.
    #[default]
    Group,
    /// By its process group and, on Linux, by `/proc`: all descendants of the group and all
    /// processes whose environment has this mark, which must be unique.
    Marked(String),
}

impl Containment {
    /// The mark as an environment variable for the command.
    pub(crate) fn variable(&self) -> Option<(OsString, OsString)> {
        match self {
            Self::Group => None,
            Self::Marked(mark) => Some((MARK.into(), mark.into())),
        }
    }
}

/// The processes of a command. The group id stays reserved until the leader is reaped. Call
/// [`Self::retire`] before reaping; after it no signal is sent, so a reused id is never hit.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Pid,
    containment: Containment,
    stage: Mutex<GroupStage>,
    /// The processes found by the last scan.
    known: Mutex<ProcessSet>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GroupStage {
    Live,
    /// The group was killed, and its id may be reused.
    Retired,
    /// Processes outside the group were killed as well.
    Swept,
}

impl Group {
    /// Tracks the group of `leader`, and registers it with the watchdog.
    pub(crate) fn new(leader: Pid, containment: Containment) -> Self {
        watchdog::register(leader);
        Self { leader, containment, stage: Mutex::new(GroupStage::Live), known: Mutex::default() }
    }

    pub(crate) fn leader(&self) -> Pid {
        self.leader
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let stage = self.stage.lock();
        if *stage == GroupStage::Live {
            self.send(signal);
        }
    }

    /// True if the leader has ended. Does not reap it.
    pub(crate) fn leader_has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pid(self.leader), options) {
            Ok(status) => status.is_some(),
            Err(error) => error == Errno::CHILD,
        }
    }

    /// Kills the rest of the group and stops using its id.
    pub(crate) fn retire(&self) {
        let mut stage = self.stage.lock();
        if *stage == GroupStage::Live {
            self.send(Signal::KILL);
            watchdog::unregister(self.leader);
            *stage = GroupStage::Retired;
        }
    }

    /// True if [`Self::sweep`] does anything.
    pub(crate) fn needs_sweep(&self) -> bool {
        self.containment != Containment::Group
    }

    /// Kills the processes that escaped from the group, which must be retired. Reads `/proc`, so
    /// it may block.
    pub(crate) fn sweep(&self) {
        let mut stage = self.stage.lock();
        let Containment::Marked(mark) = &self.containment else { return };
        if std::mem::replace(&mut *stage, GroupStage::Swept) == GroupStage::Swept {
            return;
        }
        let mut known = self.known.lock();
        for _ in 0..SWEEPS {
            let mut left = proc_scan::members(None, &known);
            left.extend(proc_scan::marked(&format!("{MARK}={mark}")));
            if left.is_empty() {
                return;
            }
            proc_scan::kill(&left);
            *known = left;
        }
    }

    /// The total usage of its processes. Reads `/proc`, so it may block.
    pub(crate) fn usage(&self) -> Usage {
        if *self.stage.lock() != GroupStage::Live {
            return Usage::default();
        }
        let mut known = self.known.lock();
        *known = proc_scan::members(Some(self.leader), &known);
        proc_scan::usage(&known)
    }

    fn send(&self, signal: Signal) {
        match kill_process_group(self.leader, signal) {
            // Some systems return EPERM for a group with only a zombie leader left.
            Ok(()) | Err(Errno::SRCH | Errno::PERM) => {}
            Err(error) => {
                tracing::warn!(group = %self.leader, ?signal, %error, "cannot signal a process group");
            }
        }
    }
}
