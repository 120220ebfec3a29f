//! The task that waits for the end of a program or kills it, kills its remaining processes, and
//! reaps it.

use std::{sync::Arc, time::Duration};

use rustix::process::Signal;
use tokio::{
    process::Child,
    signal::unix,
    sync::watch,
    task::{JoinSet, spawn_blocking},
    time::{Instant, sleep},
};
use trunkline_resilience::timeout;

use crate::{ending::Ending, group::Group, proc_scan, watchdog};

/// Longest time to read a program's streams after its end. Only a process that left the group can
/// still hold them open.
const PIPE_GRACE: Duration = Duration::from_millis(500);

/// Longest wait for a supervisor to kill its descendants.
pub(crate) const SUPERVISOR_PATIENCE: Duration = Duration::from_secs(6);

/// Poll interval of the group during its grace period.
const CHECK_INTERVAL: Duration = Duration::from_millis(25);

/// The end of a program, and its remaining processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exit {
    pub(crate) ending: Ending,
    /// Names of the processes that outlived the grace period; `None` without one.
    pub(crate) survivors: Option<Vec<String>>,
}

/// Everything the task owns. Dropping it, as a runtime does when it shuts down, kills the
/// processes.
pub(crate) struct Monitor {
    pub(crate) child: Child,
    pub(crate) group: Arc<Group>,
    /// SIGCHLD of this process; must be registered before the spawn.
    pub(crate) child_ended: unix::Signal,
    /// The tasks that read and write the program's pipes.
    pub(crate) pipes: JoinSet<()>,
    /// Grace period for the rest of the group to exit by itself.
    pub(crate) grace: Duration,
    pub(crate) exit: watch::Sender<Option<Exit>>,
}

impl Monitor {
    /// Runs until the program has ended; kills it when `stop` resolves, which gives the reason.
    pub(crate) async fn run(mut self, stop: impl Future<Output = Ending>) {
        let forced = tokio::select! {
            biased;
            () = leader_ends(&self.group, &mut self.child_ended) => None,
            ending = stop => Some(ending),
        };
        if forced.is_some() {
            self.group.signal(Signal::KILL);
            let ended = leader_ends(&self.group, &mut self.child_ended);
            if timeout(SUPERVISOR_PATIENCE, ended).await.is_none() {
                kill_supervisor(&self.group).await;
                leader_ends(&self.group, &mut self.child_ended).await;
            }
        }
        let survivors = self.survivors().await;
        // Before the reaping, because after it the group id may be reused.
        self.group.retire();
        let status = self.child.wait().await.map_or(Ending::Unknown, Ending::from);
        if self.group.needs_sweep() {
            let group = self.group.clone();
            // If the runtime refuses because it shuts down, `drop` sweeps.
            spawn_blocking(move || group.sweep()).await.ok();
        }
        // The caller that sees the end also wants the last output.
        timeout(PIPE_GRACE, async { while self.pipes.join_next().await.is_some() {} }).await;
        self.pipes.abort_all();
        self.exit.send_replace(Some(Exit { ending: forced.unwrap_or(status), survivors }));
    }

    /// Waits until only the leader is left of the group or the grace period is over.
    async fn survivors(&self) -> Option<Vec<String>> {
        if self.grace.is_zero() {
            return None;
        }
        let until = Instant::now() + self.grace;
        loop {
            let names = proc_scan::followers(self.group.leader());
            if names.as_ref().is_none_or(Vec::is_empty) || Instant::now() >= until {
                return names;
            }
            sleep(CHECK_INTERVAL).await;
        }
    }
}

pub(crate) async fn kill_supervisor(group: &Arc<Group>) {
    let group = group.clone();
    // If the runtime refuses because it shuts down, the supervisor sees that we have ended.
    spawn_blocking(move || group.kill_supervisor()).await.ok();
}

async fn leader_ends(group: &Group, child_ended: &mut unix::Signal) {
    while !group.leader_has_ended() {
        child_ended.recv().await;
        watchdog::restart_if_dead();
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.group.retire();
        self.group.sweep();
    }
}
