//! The task that notices a child's end, kills what is left of its group, and reaps it.

use std::{sync::Arc, time::Duration};

use rustix::{
    io::Errno,
    process::{Pid, WaitId, WaitIdOptions, waitid},
};
use tokio::{process::Child, signal::unix, sync::watch, task::JoinHandle};
use trunkline_resilience::timeout;

use super::{ending::Ending, group::Group, survivors::Survivors, watchdog};

/// How long after the end of a child its stderr may still be read. Only a process that left the group can hold
/// it open.
const STDERR_GRACE: Duration = Duration::from_millis(500);

/// Everything the task owns. Dropping it, as a runtime does when it shuts down, kills the group.
pub(super) struct Monitor {
    pub(super) child: Child,
    pub(super) group: Arc<Group>,
    /// Wakes on the end of any child of this process; listening must have begun before the spawn.
    pub(super) child_ended: unix::Signal,
    pub(super) stderr: JoinHandle<()>,
    pub(super) ending: watch::Sender<Option<Ending>>,
    pub(super) survivors: Survivors,
    /// How long the rest of the group may take to leave by itself.
    pub(super) grace: Duration,
}

impl Monitor {
    pub(super) async fn run(mut self) {
        while !has_ended(self.group.leader()) {
            self.child_ended.recv().await;
            watchdog::tend();
        }
        self.survivors.watch(self.group.leader(), self.grace).await;
        // Before the reaping, because after it the number of the group may belong to someone else.
        self.group.retire();
        let ending = self.child.wait().await.map_or(Ending::Unknown, Ending::from);
        // Whoever hears of the end also wants the last words.
        if timeout(STDERR_GRACE, &mut self.stderr).await.is_none() {
            self.stderr.abort();
        }
        self.ending.send_replace(Some(ending));
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.group.retire();
    }
}

/// Looks without reaping.
fn has_ended(leader: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    match waitid(WaitId::Pid(leader), options) {
        Ok(status) => status.is_some(),
        Err(error) => error == Errno::CHILD,
    }
}
