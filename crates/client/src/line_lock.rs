//! The lock of a line that all calls share. Nothing on such a line says which call a server's
//! question belongs to, so a call that is known to cause questions runs alone.

use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, Semaphore};
use trunkline_protocol::{Fault, FaultKind};
use trunkline_resilience::timeout;

/// Limit of calls that wait for the lock.
const MAX_WAITING: usize = 256;
/// Tools, prompts and resources recorded as asking questions; with more, all count as asking.
const MAX_ASKERS: usize = 1024;

pub(crate) struct LineLock {
    line: Arc<RwLock<()>>,
    waiting: Semaphore,
    askers: Mutex<HashSet<String>>,
    /// A question came that may belong to any of several calls.
    anyone_asks: AtomicBool,
    /// A question came on this line at least once.
    had_questions: AtomicBool,
}

/// Holds the lock of a line until it is dropped.
#[derive(Debug)]
pub(crate) enum LineGuard {
    Shared { _line: OwnedRwLockReadGuard<()> },
    Exclusive { _line: OwnedRwLockWriteGuard<()> },
}

impl LineLock {
    pub(crate) fn new() -> Self {
        Self {
            line: Arc::default(),
            waiting: Semaphore::new(MAX_WAITING),
            askers: Mutex::default(),
            anyone_asks: AtomicBool::new(false),
            had_questions: AtomicBool::new(false),
        }
    }

    /// Locks the line: exclusively for a subject that is known to ask, shared for all others.
    pub(crate) async fn acquire(&self, subject: &str, limit: Duration) -> Result<LineGuard, Fault> {
        let full = || {
            Fault::new(
                FaultKind::Overloaded,
                "too many calls wait until this server's questions are answered",
            )
        };
        let _permit = self.waiting.try_acquire().map_err(|_| full())?;
        let exclusive = self.is_exclusive(subject);
        let line = self.line.clone();
        let guard = async {
            if exclusive {
                LineGuard::Exclusive { _line: line.write_owned().await }
            } else {
                LineGuard::Shared { _line: line.read_owned().await }
            }
        };
        let late = || {
            Fault::new(
                FaultKind::Timeout,
                "the server still waits for the answers to another call's questions",
            )
        };
        timeout(limit, guard).await.ok_or_else(late)
    }

    /// As [`acquire`](Self::acquire), if that needs no waiting.
    pub(crate) fn try_acquire(&self, subject: &str) -> Option<LineGuard> {
        let line = self.line.clone();
        if self.is_exclusive(subject) {
            line.try_write_owned().ok().map(|line| LineGuard::Exclusive { _line: line })
        } else {
            line.try_read_owned().ok().map(|line| LineGuard::Shared { _line: line })
        }
    }

    fn is_exclusive(&self, subject: &str) -> bool {
        self.anyone_asks.load(Ordering::Acquire) || self.askers().contains(subject)
    }

    /// True once a question came on this line.
    pub(crate) fn had_questions(&self) -> bool {
        self.had_questions.load(Ordering::Acquire)
    }

    /// Notes that the server asked a question during a call of this subject.
    pub(crate) fn asked(&self, subject: &str) {
        self.had_questions.store(true, Ordering::Release);
        let mut askers = self.askers();
        if askers.len() >= MAX_ASKERS {
            self.anyone_asks.store(true, Ordering::Release);
        } else if !askers.contains(subject) {
            askers.insert(subject.to_owned());
        }
    }

    /// Notes a question that may belong to any of several calls.
    pub(crate) fn asked_by_anyone(&self) {
        self.had_questions.store(true, Ordering::Release);
        self.anyone_asks.store(true, Ordering::Release);
    }

    fn askers(&self) -> MutexGuard<'_, HashSet<String>> {
        self.askers.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn whoever_asks_is_alone_and_the_rest_are_together() {
        let lock = LineLock::new();
        let (one, two) = (lock.acquire("a", LIMIT).await.unwrap(), lock.acquire("b", LIMIT).await.unwrap());
        lock.asked("a");
        let late = lock.acquire("a", LIMIT).await;
        assert!(matches!(late, Err(fault) if fault.kind() == FaultKind::Timeout));
        drop((one, two));
        let alone = lock.acquire("a", LIMIT).await.unwrap();
        assert!(lock.acquire("b", LIMIT).await.is_err() && lock.try_acquire("b").is_none());
        drop(alone);
        assert!(matches!(lock.try_acquire("b"), Some(LineGuard::Shared { .. })));
        assert!(matches!(lock.try_acquire("a"), Some(LineGuard::Exclusive { .. })));
        lock.asked_by_anyone();
        let _alone = lock.acquire("b", LIMIT).await.unwrap();
        assert!(lock.acquire("c", LIMIT).await.is_err());
    }
}
