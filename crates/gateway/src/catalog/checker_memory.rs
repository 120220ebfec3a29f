//! The memory of all compiled checkers together, and the eviction of those that are not used.

use super::checker::Checker;
use parking_lot::Mutex;
use std::{
    collections::VecDeque,
    sync::{Arc, Weak},
};

/// Most memory of all compiled checkers, by estimate. Beyond it, those that were not used lately
/// are evicted and compiled again for their next call.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The compiled checkers in the order in which an eviction looks at them.
#[derive(Debug, Default)]
pub(crate) struct CheckerMemory {
    compiled: Mutex<VecDeque<(Weak<Checker>, u64)>>,
}

impl CheckerMemory {
    /// Adds a checker, and evicts others until all are within the limit. It is kept even if it
    /// takes more than the limit alone.
    pub(super) fn add(&self, checker: &Arc<Checker>, bytes: u64) {
        let mut compiled = self.compiled.lock();
        compiled.retain(|(old, _)| old.upgrade().is_some_and(|old| !Arc::ptr_eq(&old, checker)));
        let left = MAX_BYTES.saturating_sub(bytes);
        let mut taken: u64 = compiled.iter().map(|(_, bytes)| bytes).sum();
        while taken > left
            && let Some((old, bytes)) = compiled.pop_front()
        {
            match old.upgrade() {
                // Second chance: it was used since the last time.
                Some(used) if !used.is_unused() => compiled.push_back((old, bytes)),
                unused => {
                    unused.inspect(|unused| unused.evict());
                    taken -= bytes;
                }
            }
        }
        compiled.push_back((Arc::downgrade(checker), bytes));
    }

    pub(super) fn evict_all(&self) {
        for (checker, _) in self.compiled.lock().drain(..) {
            checker.upgrade().inspect(|checker| checker.evict());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Refusal;
    use trunkline_protocol::Raw;
    use trunkline_schema::Budget;

    fn checker() -> Arc<Checker> {
        Arc::new(Checker::new(&Raw::parse(r#"{"type":"object"}"#.to_owned()).unwrap()).unwrap())
    }

    #[test]
    fn j13_the_checker_that_was_not_used_is_evicted_first() {
        let memory = CheckerMemory::default();
        let [used, unused, new] = [checker(), checker(), checker()];
        for checker in [&used, &unused] {
            assert_eq!(checker.check(None, Budget::QUICK), Err(Refusal::TooExpensive));
            checker.check_fully(None, &memory).unwrap();
        }
        used.check(None, Budget::QUICK).unwrap();
        memory.add(&new, MAX_BYTES - 10 * 1024);
        assert!(used.check(None, Budget::QUICK).is_ok());
        assert_eq!(unused.check(None, Budget::QUICK), Err(Refusal::TooExpensive));
        assert!(unused.check_fully(None, &memory).is_ok());
    }
}
