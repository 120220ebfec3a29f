//! Tracks the processes of one command, so that all of them can be counted and killed.

use parking_lot::Mutex;
use std::ffi::OsString;

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid},
};

use crate::{
    proc_scan::{self, ProcessSet, Usage},
    supervisor, watchdog,
};

/// The variable that marks the processes of a command.
const MARK: &str = "TRUNKLINE_RUN";

/// Kill passes over remaining processes, which may start new ones meanwhile.
pub(crate) const SWEEPS: usize = 10;

/// The method of tracking the processes of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Containment {
    /// By its process group. A process that starts its own session, as daemons do, escapes.
    #[default]
    Group,
    /// By a [supervisor](crate::use_supervisor), if there is one; else by its process group.
    Tree,
    /// Like `Tree` and, on Linux, by `/proc`: all descendants of the group and all processes whose
    /// environment has this mark, which must be unique.
    Marked(String),
}

impl Containment {
    /// The mark as an environment variable for the command.
    pub(crate) fn variable(&self) -> Option<(OsString, OsString)> {
        match self {
            Self::Group | Self::Tree => None,
            Self::Marked(mark) => Some((MARK.into(), mark.into())),
        }
    }
}

/// The processes of a command. The group id stays reserved until the leader is reaped. Call
/// [`Self::retire`] before reaping; after it no signal is sent, so a reused id is never hit.
#[derive(Debug)]
pub(crate) struct Group {
    /// The program, or its supervisor.
    leader: Pid,
    kind: GroupKind,
    containment: Containment,
    stage: Mutex<GroupStage>,
    /// The processes found by the last scan.
    known: Mutex<ProcessSet>,
}

/// The process that leads the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroupKind {
    /// The program itself, with its processes in the group.
    Program,
    /// A supervisor, alone in its group. It passes signals on to the program.
    Supervisor,
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
    /// Tracks the processes of `leader`, and makes sure that they end with this process.
    pub(crate) fn new(leader: Pid, kind: GroupKind, containment: Containment) -> Self {
        // A supervisor notices by itself that we have ended.
        if kind == GroupKind::Program {
            watchdog::register(leader);
        }
        Self { leader, kind, containment, stage: Mutex::new(GroupStage::Live), known: Mutex::default() }
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
            if self.kind == GroupKind::Program {
                watchdog::unregister(self.leader);
            }
            supervisor::children().remove(self.leader.as_raw_nonzero().get());
            *stage = GroupStage::Retired;
        }
    }

    /// Kills a supervisor that does not do what it is asked for, after all its descendants. Reads
    /// `/proc`, so it may block.
    pub(crate) fn kill_supervisor(&self) {
        let stage = self.stage.lock();
        if *stage != GroupStage::Live || self.kind == GroupKind::Program {
            return;
        }
        for _ in 0..SWEEPS {
            let left = self.followers(&ProcessSet::new());
            if left.is_empty() {
                break;
            }
            proc_scan::kill(&left);
        }
        // It may have ended by itself.
        kill_process(self.leader, Signal::KILL).ok();
    }

    /// Its processes without a supervisor.
    fn followers(&self, known: &ProcessSet) -> ProcessSet {
        let mut members = proc_scan::members(Some(self.leader), known);
        if self.kind == GroupKind::Supervisor {
            members.remove(&self.leader.as_raw_nonzero().get());
        }
        members
    }

    /// True if [`Self::sweep`] does anything.
    pub(crate) fn needs_sweep(&self) -> bool {
        self.kind == GroupKind::Supervisor || matches!(self.containment, Containment::Marked(_))
    }

    /// Kills the processes that escaped from the group, which must be retired. Reads `/proc`, so
    /// it may block.
    pub(crate) fn sweep(&self) {
        let mut stage = self.stage.lock();
        if std::mem::replace(&mut *stage, GroupStage::Swept) == GroupStage::Swept {
            return;
        }
        if self.kind == GroupKind::Supervisor {
            supervisor::kill_strays();
        }
        let Containment::Marked(mark) = &self.containment else { return };
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
        *known = self.followers(&known);
        proc_scan::usage(&known)
    }

    fn send(&self, signal: Signal) {
        let sent = match (self.kind, signal) {
            (GroupKind::Program, signal) => kill_process_group(self.leader, signal),
            // It kills all its descendants before it ends. It may have been suspended by them.
            (GroupKind::Supervisor, Signal::KILL) => {
                kill_process(self.leader, Signal::USR1).and_then(|()| kill_process(self.leader, Signal::CONT))
            }
            (GroupKind::Supervisor, signal) => kill_process(self.leader, signal),
        };
        match sent {
            // Some systems return EPERM for a group with only a zombie leader left.
            Ok(()) | Err(Errno::SRCH | Errno::PERM) => {}
            Err(error) => {
                tracing::warn!(group = %self.leader, ?signal, %error, "cannot signal a process group");
            }
        }
    }
}
