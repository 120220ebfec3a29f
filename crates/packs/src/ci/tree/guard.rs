//! Watches a run's tree while it runs, and clears it away afterwards.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{
    census::{Known, marked, members, memory},
    kill::kill,
};

/// How often the tree is looked at.
const INTERVAL: Duration = Duration::from_millis(250);

/// How often what is left is killed, as it may have made new ones meanwhile.
const ROUNDS: usize = 10;

/// The variable that marks a run's processes.
pub(super) const MARK: &str = "TRUNKLINE_RUN";

/// Which bound a tree has broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Breach {
    Memory,
    Processes,
}

/// A run's tree. Dropping it kills what is left.
#[derive(Debug)]
pub(in super::super) struct Tree {
    mark: String,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    leader: Option<i32>,
    known: Known,
}

impl Tree {
    /// A tree whose processes are marked with `id`.
    pub(in super::super) fn new(id: &str) -> Self {
        Self { mark: format!("{MARK}={id}"), shared: Arc::default() }
    }

    /// The variable that its processes must have.
    pub(in super::super) fn variable(&self) -> (&str, &str) {
        self.mark.split_once('=').expect("the mark was made with an equals sign")
    }

    /// Its first process has started.
    pub(in super::super) fn started(&self, leader: i32) {
        self.lock().leader = Some(leader);
    }

    /// Waits until the tree breaks a bound.
    pub(in super::super) async fn breach(
        &self,
        most_memory: Option<u64>,
        most_processes: Option<usize>,
    ) -> Breach {
        loop {
            tokio::time::sleep(INTERVAL).await;
            let shared = Arc::clone(&self.shared);
            let counted = tokio::task::spawn_blocking(move || count(&shared)).await;
            let Ok((processes, used)) = counted else { continue };
            if most_processes.is_some_and(|most| processes > most) {
                return Breach::Processes;
            }
            if most_memory.is_some_and(|most| used > most) {
                return Breach::Memory;
            }
        }
    }

    /// Kills what is left.
    fn clear(&self) {
        let mut shared = self.lock();
        // Its group is gone by now, and the number may mean another one.
        if shared.leader.take().is_none() {
            return;
        }
        for _ in 0..ROUNDS {
            let mut left = members(NO_GROUP, &shared.known);
            left.extend(marked(&self.mark));
            if left.is_empty() {
                return;
            }
            kill(&left);
            shared.known = left;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A number that no process has.
const NO_GROUP: i32 = -1;

fn count(shared: &Mutex<Shared>) -> (usize, u64) {
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(leader) = shared.leader else { return (0, 0) };
    shared.known = members(leader, &shared.known);
    (shared.known.len(), memory(&shared.known))
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.clear();
    }
}
