//! Memory: how servers were reached before, so that they need not be probed again.

use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};
use trunkline_protocol::Era;

/// Targets remembered; the first ones of the alphabet are forgotten beyond that.
const MAX_REMEMBERED: usize = 1024;

/// The way that worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Modern, over the target's usual transport.
    Modern,
    /// Legacy, over the target's usual transport.
    Legacy,
    /// Legacy, over HTTP+SSE.
    LegacySse,
}

/// What was found out, by [`Target::key`](crate::Target::key). An answer that stops fitting is forgotten and found out anew.
#[derive(Debug, Default)]
pub struct Memory(Mutex<BTreeMap<String, Way>>);

impl Memory {
    /// Takes over what was kept elsewhere, say in a file.
    pub fn from_entries(entries: BTreeMap<String, Way>) -> Self {
        Self(Mutex::new(entries))
    }

    /// What to keep elsewhere.
    pub fn entries(&self) -> BTreeMap<String, Way> {
        self.map().clone()
    }

    pub fn recall(&self, key: &str) -> Option<Way> {
        self.map().get(key).copied()
    }

    pub fn remember(&self, key: String, way: Way) {
        let mut map = self.map();
        map.insert(key, way);
        while map.len() > MAX_REMEMBERED {
            map.pop_first();
        }
    }

    pub fn forget(&self, key: &str) {
        self.map().remove(key);
    }

    fn map(&self) -> MutexGuard<'_, BTreeMap<String, Way>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Way {
    pub fn era(self) -> Era {
        match self {
            Self::Modern => Era::Modern,
            Self::Legacy | Self::LegacySse => Era::Legacy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_recalled_until_forgotten_and_bounded() {
        let memory = Memory::default();
        memory.remember("a".into(), Way::LegacySse);
        assert_eq!(memory.recall("a"), Some(Way::LegacySse));
        let copy = Memory::from_entries(memory.entries());
        memory.forget("a");
        assert_eq!((memory.recall("a"), copy.recall("a")), (None, Some(Way::LegacySse)));
        (0..MAX_REMEMBERED + 5).for_each(|i| memory.remember(format!("{i:05}"), Way::Modern));
        assert_eq!(memory.entries().len(), MAX_REMEMBERED);
    }
}
