//! What holds the processes of one command together, so that all of them can be counted and ended.

use std::{
    ffi::OsString,
    sync::{Mutex, PoisonError},
};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

use crate::{
    census::{self, Known, Usage},
    watchdog,
};

/// The variable that marks the processes of a command.
const MARK: &str = "TRUNKLINE_RUN";

/// How often what is left is killed; it may start new processes meanwhile.
const SWEEPS: usize = 10;

/// What holds the processes of a command together. Only this file knows the difference.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Containment {
    /// Its process group. A process that starts a session of its own, as daemons do, escapes.
    #[default]
    Group,
    /// Its process group and, where Linux shows them in `/proc`, all descendants of the group and all processes
    /// whose environment has this mark, which must be unique.
    Marked(String),
}

impl Containment {
    /// The variable that the command must have in its environment.
    pub(crate) fn variable(&self) -> Option<(OsString, OsString)> {
        match self {
            Self::Group => None,
            Self::Marked(mark) => Some((MARK.into(), mark.into())),
        }
    }
}

/// The processes of a command. The number of the group stays reserved until the leader is reaped, which must happen
/// after [`Self::retire`]; from then on signals go nowhere, so a reused number is never hit.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Pid,
    containment: Containment,
    stage: Mutex<Stage>,
    /// The processes that were seen last.
    known: Mutex<Known>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Live,
    /// The group was killed, and its number is no longer ours.
    Retired,
    /// Processes outside the group were killed as well.
    Swept,
}

impl Group {
    /// Takes charge of the group that `leader` leads, and registers it with the watchdog.
    pub(crate) fn new(leader: Pid, containment: Containment) -> Self {
        watchdog::guard(leader);
        Self { leader, containment, stage: Mutex::new(Stage::Live), known: Mutex::default() }
    }

    pub(crate) fn leader(&self) -> Pid {
        self.leader
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if *stage == Stage::Live {
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

    /// Kills what is left in the group and gives its number up.
    pub(crate) fn retire(&self) {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if *stage == Stage::Live {
            self.send(Signal::KILL);
            watchdog::release(self.leader);
            *stage = Stage::Retired;
        }
    }

    /// True if [`Self::sweep`] has something to look for.
    pub(crate) fn needs_sweep(&self) -> bool {
        self.containment != Containment::Group
    }

    /// Kills the processes that escaped from the group, which must have been retired. Reads `/proc`, so it may block.
    pub(crate) fn sweep(&self) {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let Containment::Marked(mark) = &self.containment else { return };
        if std::mem::replace(&mut *stage, Stage::Swept) == Stage::Swept {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..SWEEPS {
            let mut left = census::members(None, &known);
            left.extend(census::marked(&format!("{MARK}={mark}")));
            if left.is_empty() {
                return;
            }
            census::kill(&left);
            *known = left;
        }
    }

    /// What its processes use together. Reads `/proc`, so it may block.
    pub(crate) fn usage(&self) -> Usage {
        if *self.stage.lock().unwrap_or_else(PoisonError::into_inner) != Stage::Live {
            return Usage::default();
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known = census::members(Some(self.leader), &known);
        census::usage(&known)
    }

    fn send(&self, signal: Signal) {
        match kill_process_group(self.leader, signal) {
            // Some systems answer PERM for a group of which only a dead leader is left.
            Ok(()) | Err(Errno::SRCH | Errno::PERM) => {}
            Err(error) => {
                tracing::warn!(group = %self.leader, ?signal, %error, "cannot signal a process group");
            }
        }
    }
}
