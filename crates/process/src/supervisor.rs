//! The task that notices a program's end or brings it about, kills what is left of its group, and reaps it.

use std::{sync::Arc, time::Duration};

use tokio::{
    io::AsyncWriteExt,
    process::{Child, ChildStdin},
    signal::unix,
    sync::watch,
    task::JoinHandle,
    time::{Instant, timeout},
};
use trunkline_resilience::{Deadline, Moment};

use super::{ending::Ending, group::Group, limits::Overflow, pipes::Stream};

/// How long after the end of a program its streams may still be read. Only a process that left the group can hold
/// them open.
const PIPE_GRACE: Duration = Duration::from_millis(500);

/// Everything the task owns. Dropping it, as a runtime does when it shuts down, kills the group.
pub(super) struct Supervisor {
    pub(super) child: Child,
    pub(super) group: Arc<Group>,
    /// Wakes on the end of any child of this process.
    pub(super) child_ended: unix::Signal,
    pub(super) readers: [JoinHandle<()>; 2],
    pub(super) writer: Option<JoinHandle<()>>,
    pub(super) stdout: Stream,
    pub(super) killed: watch::Receiver<bool>,
    pub(super) ending: watch::Sender<Option<Ending>>,
}

/// Starts to write `input` to the program, which may end without reading all of it.
pub(super) fn feed(mut stdin: ChildStdin, input: Vec<u8>) -> JoinHandle<()> {
    tokio::spawn(async move {
        if let Err(error) = stdin.write_all(&input).await {
            tracing::debug!(%error, "a program did not read all its input");
        }
    })
}

impl Supervisor {
    pub(super) async fn run(mut self, deadline: Moment, overflow: Overflow) {
        let forced = self.watch(deadline, overflow).await;
        if forced.is_some() {
            self.group.kill();
            while !self.group.leader_has_ended() {
                self.child_ended.recv().await;
            }
        }
        // Before the reaping, because after it the number of the group may belong to someone else.
        self.group.retire();
        let status = self.child.wait().await.map_or(Ending::Unknown, Ending::from);
        let quiet = Instant::now() + PIPE_GRACE;
        for reader in &mut self.readers {
            if timeout(quiet.saturating_duration_since(Instant::now()), &mut *reader).await.is_err() {
                reader.abort();
            }
        }
        self.ending.send_replace(Some(forced.unwrap_or(status)));
    }

    /// Waits for the end of the leader, `None`, or for a reason to bring it about.
    async fn watch(&mut self, deadline: Moment, overflow: Overflow) -> Option<Ending> {
        let stdout = self.stdout.clone();
        let overflowed = async {
            match overflow {
                Overflow::Stop => stdout.overflowed().await,
                Overflow::Drain => std::future::pending().await,
            }
        };
        let late = Deadline::at(deadline);
        tokio::pin!(overflowed, late);
        while !self.group.leader_has_ended() {
            tokio::select! {
                biased;
                _ = self.child_ended.recv() => {}
                () = &mut late => return Some(Ending::Deadline),
                () = &mut overflowed => return Some(Ending::Overflow),
                // An error says that nobody holds the program any more.
                _ = self.killed.wait_for(|killed| *killed) => return Some(Ending::Killed),
            }
        }
        None
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.group.retire();
        for reader in &self.readers {
            reader.abort();
        }
        if let Some(writer) = &self.writer {
            writer.abort();
        }
    }
}
