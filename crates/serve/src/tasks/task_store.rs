//! The tasks of 2025-11-25 clients, with their owners.

use crate::era::unguessable;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::time::Instant;
use trunkline_protocol::{Fault, FaultKind, Raw, time::iso_8601};

/// Most tasks of one caller, and of all callers.
const MAX_PER_CALLER: usize = 64;
const MAX_TASKS: usize = 4096;
/// Lifetime of a result that is stored here.
const TTL: Duration = Duration::from_mins(10);
/// Lifetime of the entry for a task of the handler.
const REMEMBERED: Duration = Duration::from_hours(24);

#[derive(Default)]
pub(crate) struct TaskStore(Mutex<HashMap<String, StoredTask>>);

struct StoredTask {
    owner: String,
    task: Raw,
    location: ResultLocation,
    until: Instant,
    number: u64,
}

/// The place of a task's result: this store, or the handler.
#[derive(Clone)]
pub(super) enum ResultLocation {
    /// The handler returned a result instead of a task.
    Here {
        result: Arc<Raw>,
    },
    AtHandler,
}

/// A task that was found for its owner.
pub(super) struct Known {
    pub(super) id: String,
    pub(super) task: Raw,
    pub(super) location: ResultLocation,
}

impl TaskStore {
    /// Stores a task of the handler.
    pub(super) fn note(&self, owner: &str, task: &Raw) -> Result<(), Fault> {
        let id: String = task.member_as("taskId").ok_or_else(nameless)?;
        self.put(id, owner, ResultLocation::AtHandler, task.clone())
    }

    /// Stores a result as a finished task.
    pub(super) fn keep(&self, owner: &str, result: Raw) -> Result<Raw, Fault> {
        let id = unguessable();
        let failed = result.member_as::<bool>("isError") == Some(true);
        let now = iso_8601(SystemTime::now());
        let task: Raw = serde_json::json!({
            "taskId": id,
            "status": if failed { "failed" } else { "completed" },
            "createdAt": now,
            "lastUpdatedAt": now,
            "ttl": u64::try_from(TTL.as_millis()).unwrap_or(u64::MAX),
        })
        .into();
        self.put(id, owner, ResultLocation::Here { result: Arc::new(result) }, task.clone())?;
        Ok(task)
    }

    pub(super) fn update(&self, id: &str, task: &Raw) {
        if let Some(entry) = self.0.lock().get_mut(id) {
            entry.task = task.clone();
        }
    }

    /// `None` for a task that does not exist and for one of another caller alike.
    pub(super) fn find(&self, id: &str, owner: &str) -> Option<Known> {
        let mut all = self.0.lock();
        all.retain(|_, entry| entry.until > Instant::now());
        let entry = all.get(id).filter(|entry| entry.owner == owner)?;
        Some(Known { id: id.to_owned(), task: entry.task.clone(), location: entry.location.clone() })
    }

    /// All tasks of one caller, oldest first.
    pub(super) fn of(&self, owner: &str) -> Vec<Known> {
        let mut all = self.0.lock();
        all.retain(|_, entry| entry.until > Instant::now());
        let mut own: Vec<_> = all.iter().filter(|(_, entry)| entry.owner == owner).collect();
        own.sort_by_key(|(_, entry)| entry.number);
        let known = |(id, entry): (&String, &StoredTask)| Known {
            id: id.clone(),
            task: entry.task.clone(),
            location: entry.location.clone(),
        };
        own.into_iter().map(known).collect()
    }

    fn put(&self, id: String, owner: &str, location: ResultLocation, task: Raw) -> Result<(), Fault> {
        let mut all = self.0.lock();
        all.retain(|_, entry| entry.until > Instant::now());
        let own = all.values().filter(|entry| entry.owner == owner).count();
        if own >= MAX_PER_CALLER || all.len() >= MAX_TASKS {
            return Err(Fault::new(FaultKind::Overloaded, "too many tasks are kept; wait until some expire"));
        }
        let number = all.values().map(|entry| entry.number + 1).max().unwrap_or_default();
        let until =
            Instant::now() + if matches!(location, ResultLocation::AtHandler) { REMEMBERED } else { TTL };
        all.insert(id, StoredTask { owner: owner.to_owned(), task, location, until, number });
        Ok(())
    }
}

fn nameless() -> Fault {
    Fault::new(FaultKind::BadAnswer, "the server started a task without `taskId`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn s05_a_task_is_its_owners_only_and_expires() {
        let store = TaskStore::default();
        let task = store.keep("alice", Raw::parse(r#"{"content":[]}"#).unwrap()).unwrap();
        let id: String = task.member_as("taskId").unwrap();
        assert!(store.find(&id, "alice").is_some());
        assert!(store.find(&id, "bob").is_none() && store.of("bob").is_empty());
        assert_eq!(store.of("alice").len(), 1);
        tokio::time::advance(TTL).await;
        assert!(store.find(&id, "alice").is_none());
        for _ in 0..MAX_PER_CALLER {
            store.keep("alice", Raw::empty_object()).unwrap();
        }
        assert_eq!(store.keep("alice", Raw::empty_object()).unwrap_err().kind(), FaultKind::Overloaded);
        assert!(store.keep("bob", Raw::empty_object()).is_ok());
    }
}
