//! A child's process group, signalled only while its number certainly still means that group.

use std::sync::{Mutex, PoisonError};

use rustix::{
    io::Errno,
    process::{Pid, Signal, kill_process_group},
};

use super::watchdog;

/// A process group. Its number stays reserved until the leader is reaped, which must happen after
/// [`Self::retire`]; from then on signals go nowhere, so a reused number is never hit.
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
    /// Takes charge of the group that `leader` leads, and tells the watchdog.
    pub(super) fn new(leader: Pid) -> Self {
        watchdog::guard(leader);
        Self { leader, live: Mutex::new(Live::Yes) }
    }

    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    pub(super) fn signal(&self, signal: Signal) {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if *live == Live::Yes {
            self.send(signal);
        }
    }

    /// Kills what is left in the group and gives its number up.
    pub(super) fn retire(&self) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if *live == Live::Yes {
            self.send(Signal::KILL);
            watchdog::release(self.leader);
            *live = Live::No;
        }
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
