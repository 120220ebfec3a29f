//! Turns: on a line that all calls share, nothing says which call a server's question belongs to. So whoever is known to ask
//! is let through alone.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, Semaphore};
use trunkline_protocol::{Fault, FaultKind};
use trunkline_resilience::within_time;

/// Calls that may wait for their turn.
const MAX_WAITING: usize = 256;
/// Tools, prompts and resources remembered as asking; beyond that all of them are taken for asking.
const MAX_ASKERS: usize = 1024;

pub(crate) struct Turns {
    line: Arc<RwLock<()>>,
    waiting: Semaphore,
    askers: Mutex<HashSet<String>>,
    /// Somebody asked and could have been any of several.
    anyone_asks: AtomicBool,
    /// Something was asked on the line.
    heard_questions: AtomicBool,
}

/// A turn; it ends when this is dropped.
#[derive(Debug)]
pub(crate) enum Turn {
    Shared { _line: OwnedRwLockReadGuard<()> },
    Alone { _line: OwnedRwLockWriteGuard<()> },
}

impl Turns {
    pub(crate) fn new() -> Self {
        Self {
            line: Arc::default(),
            waiting: Semaphore::new(MAX_WAITING),
            askers: Mutex::default(),
            anyone_asks: AtomicBool::new(false),
            heard_questions: AtomicBool::new(false),
        }
    }

    /// Waits for a turn: alone for whoever is known to ask, together with others for the rest.
    pub(crate) async fn take(&self, subject: &str, limit: Duration) -> Result<Turn, Fault> {
        let full = || Fault::new(FaultKind::Overloaded, "too many calls wait for this server's questions");
        let _place = self.waiting.try_acquire().map_err(|_| full())?;
        let alone = self.is_alone(subject);
        let line = self.line.clone();
        let turn = async {
            if alone {
                Turn::Alone { _line: line.write_owned().await }
            } else {
                Turn::Shared { _line: line.read_owned().await }
            }
        };
        let late = || Fault::new(FaultKind::Timeout, "the server is waiting for another call's answers");
        within_time(limit, turn).await.ok_or_else(late)
    }

    /// A turn that is free at once.
    pub(crate) fn try_take(&self, subject: &str) -> Option<Turn> {
        let line = self.line.clone();
        if self.is_alone(subject) {
            line.try_write_owned().ok().map(|line| Turn::Alone { _line: line })
        } else {
            line.try_read_owned().ok().map(|line| Turn::Shared { _line: line })
        }
    }

    fn is_alone(&self, subject: &str) -> bool {
        self.anyone_asks.load(Ordering::Acquire) || self.askers().contains(subject)
    }

    /// Whether a question ever came on the line that all calls share.
    pub(crate) fn heard_questions(&self) -> bool {
        self.heard_questions.load(Ordering::Acquire)
    }

    /// The call of this subject was asked something.
    pub(crate) fn asked(&self, subject: &str) {
        self.heard_questions.store(true, Ordering::Release);
        let mut askers = self.askers();
        if askers.len() >= MAX_ASKERS {
            self.anyone_asks.store(true, Ordering::Release);
        } else if !askers.contains(subject) {
            askers.insert(subject.to_owned());
        }
    }

    /// Something was asked, and nobody can tell by whom.
    pub(crate) fn asked_by_anyone(&self) {
        self.heard_questions.store(true, Ordering::Release);
        self.anyone_asks.store(true, Ordering::Release);
    }

    fn askers(&self) -> MutexGuard<'_, HashSet<String>> {
        self.askers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn whoever_asks_is_alone_and_the_rest_are_together() {
        let turns = Turns::new();
        let (one, two) = (turns.take("a", LIMIT).await.unwrap(), turns.take("b", LIMIT).await.unwrap());
        turns.asked("a");
        let late = turns.take("a", LIMIT).await;
        assert!(matches!(late, Err(fault) if fault.kind() == FaultKind::Timeout));
        drop((one, two));
        let alone = turns.take("a", LIMIT).await.unwrap();
        assert!(turns.take("b", LIMIT).await.is_err() && turns.try_take("b").is_none());
        drop(alone);
        assert!(matches!(turns.try_take("b"), Some(Turn::Shared { .. })));
        assert!(matches!(turns.try_take("a"), Some(Turn::Alone { .. })));
        turns.asked_by_anyone();
        let _alone = turns.take("b", LIMIT).await.unwrap();
        assert!(turns.take("c", LIMIT).await.is_err());
    }
}
