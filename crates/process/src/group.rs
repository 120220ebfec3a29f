//! A program's process group, signalled only while its number certainly still means that group.

use std::sync::{Mutex, PoisonError};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

/// A process group. Its number stays reserved until the leader is reaped, which must happen after
/// [`Self::retire`]; from then on kills go nowhere, so a reused number is never hit.
#[derive(Debug)]
pub(super) struct Group {
    leader: Pid,
    live: Mutex<Live>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Live {
    Yes,
    No,
}

impl Group {
    pub(super) fn new(leader: Pid) -> Self {
        Self { leader, live: Mutex::new(Live::Yes) }
    }

    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    pub(super) fn kill(&self) {
        if *self.live.lock().unwrap_or_else(PoisonError::into_inner) == Live::Yes {
            self.send();
        }
    }

    /// Kills what is left in the group and gives its number up.
    pub(super) fn retire(&self) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if *live == Live::Yes {
            self.send();
            *live = Live::No;
        }
    }

    /// Whether the leader has ended. Looks without reaping.
    pub(super) fn leader_has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pid(self.leader), options) {
            Ok(status) => status.is_some(),
            Err(error) => error == Errno::CHILD,
        }
    }

    fn send(&self) {
        match kill_process_group(self.leader, Signal::KILL) {
            // Some systems answer PERM for a group of which only a dead leader is left.
            Ok(()) | Err(Errno::SRCH | Errno::PERM) => {}
            Err(error) => tracing::warn!(group = %self.leader, %error, "cannot kill a process group"),
        }
    }
}
