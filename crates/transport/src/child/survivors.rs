//! What a child leaves behind in its process group.

use std::{
    fs,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rustix::process::Pid;
use tokio::time::{Instant, sleep};

/// How often the group is looked at while it may still leave by itself.
const LOOK: Duration = Duration::from_millis(25);

/// The names of the processes that outlived the leader of their group by its grace.
///
/// Known once the child has ended; `None` until then, without a grace, and where the system does not show groups.
#[derive(Debug, Clone, Default)]
pub struct Survivors(Arc<Mutex<Option<Vec<String>>>>);

impl Survivors {
    pub fn names(&self) -> Option<Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until nobody but the leader is left in its group, or until the grace is over.
    pub(super) async fn watch(&self, leader: Pid, grace: Duration) {
        if grace.is_zero() {
            return;
        }
        let until = Instant::now() + grace;
        loop {
            let names = members(leader);
            let done = names.as_ref().is_none_or(Vec::is_empty) || Instant::now() >= until;
            if done {
                *self.0.lock().unwrap_or_else(PoisonError::into_inner) = names;
                return;
            }
            sleep(LOOK).await;
        }
    }
}

/// The living members of a group, except its leader; none where there is no `/proc` as Linux has it.
fn members(leader: Pid) -> Option<Vec<String>> {
    let leader = leader.as_raw_nonzero().get();
    let processes = fs::read_dir("/proc").ok()?;
    let ids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let stats: Vec<(i32, String)> =
        ids.filter_map(|id| Some((id, fs::read_to_string(format!("/proc/{id}/stat")).ok()?))).collect();
    if stats.is_empty() {
        return None;
    }
    let member = |(id, stat): &(i32, String)| {
        // The name stands in parentheses and may hold anything, so the rest counts from the last one.
        let (head, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        let (state, group) = (fields.next()?, fields.nth(1)?.parse::<i32>().ok()?);
        let alive = !matches!(state, "Z" | "X");
        (alive && group == leader && *id != leader)
            .then(|| head.split_once('(').map_or(head, |(_, name)| name).to_owned())
    };
    Some(stats.iter().filter_map(member).collect())
}
