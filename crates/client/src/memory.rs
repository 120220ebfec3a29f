//! Remembers the era and transport of servers, so that they need not be probed again.

use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use trunkline_protocol::Era;

/// Limit of remembered targets; beyond it the alphabetically first are removed.
const MAX_REMEMBERED: usize = 1024;

/// The era and transport that worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnownTransport {
    /// Modern, over the target's usual transport.
    Modern,
    /// Legacy, over the target's usual transport.
    Legacy,
    /// Legacy, over HTTP+SSE.
    LegacySse,
}

/// Results of detection, by [`Target::key`](crate::Target::key). One that no longer works is
/// removed and the server is probed again.
#[derive(Debug, Default)]
pub struct Memory(Mutex<BTreeMap<String, KnownTransport>>);

impl Memory {
    /// Restores entries, for example from a file.
    pub fn from_entries(entries: BTreeMap<String, KnownTransport>) -> Self {
        Self(Mutex::new(entries))
    }

    /// A copy of all entries, for example to write them to a file.
    pub fn entries(&self) -> BTreeMap<String, KnownTransport> {
        self.map().clone()
    }

    pub fn recall(&self, key: &str) -> Option<KnownTransport> {
        self.map().get(key).copied()
    }

    pub fn remember(&self, key: String, way: KnownTransport) {
        let mut map = self.map();
        map.insert(key, way);
        while map.len() > MAX_REMEMBERED {
            map.pop_first();
        }
    }

    pub fn forget(&self, key: &str) {
        self.map().remove(key);
    }

    fn map(&self) -> MutexGuard<'_, BTreeMap<String, KnownTransport>> {
        self.0.lock()
    }
}

impl KnownTransport {
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
        memory.remember("a".into(), KnownTransport::LegacySse);
        assert_eq!(memory.recall("a"), Some(KnownTransport::LegacySse));
        let copy = Memory::from_entries(memory.entries());
        memory.forget("a");
        assert_eq!((memory.recall("a"), copy.recall("a")), (None, Some(KnownTransport::LegacySse)));
        (0..MAX_REMEMBERED + 5).for_each(|i| memory.remember(format!("{i:05}"), KnownTransport::Modern));
        assert_eq!(memory.entries().len(), MAX_REMEMBERED);
    }
}
