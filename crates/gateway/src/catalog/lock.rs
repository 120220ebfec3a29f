//! Compares the definitions of a server with the accepted ones.

use super::{
    ServerFilters,
    item::Item,
    rules::{LockRules, OnDrift},
};
use crate::upstream::{Kind, Offer};
use std::{collections::HashSet, sync::Arc};
use trunkline_lock::{Kind as LockKind, hash};
use trunkline_protocol::Raw;

/// The difference between a definition and the lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Drift {
    #[error("its definition differs from the lock file; see `trunkline lock --check`")]
    Changed,
    #[error("it is not in the lock file; see `trunkline lock --check`")]
    New,
    #[error("it is in the lock file, and its server does not list it any more")]
    Gone,
}

impl ServerFilters {
    /// True if definitions that were not accepted must not be used.
    pub(crate) fn is_enforced(&self) -> bool {
        self.rules.lock.as_ref().is_some_and(|lock| lock.on_drift == OnDrift::Quarantine)
    }

    /// The difference from the item's accepted definition. Resources have none.
    pub(super) fn drift(&self, kind: Kind, name: &str, raw: &Raw) -> Option<Drift> {
        let key = lock_kind(kind)?.key(name);
        let accepted = self.rules.lock.as_ref()?.hashes.get(&key);
        let Some(accepted) = accepted else { return Some(Drift::New) };
        let now = raw.decode().ok().map(|definition| hash(&definition));
        (now.as_ref() != Some(accepted)).then_some(Drift::Changed)
    }

    /// The accepted items that a list does not have. An empty list may just not have been read.
    pub(super) fn gone(&self, kind: Kind, list: &[Raw]) -> Vec<(String, Drift)> {
        let (Some(lock), Some(lock_kind)) = (&self.rules.lock, lock_kind(kind)) else { return Vec::new() };
        if list.is_empty() {
            return Vec::new();
        }
        let listed: HashSet<String> = list.iter().filter_map(|raw| Item::name(kind, raw).ok()).collect();
        let prefix = lock_kind.key("");
        let accepted = lock.hashes.keys().filter_map(|key| key.strip_prefix(&prefix));
        accepted.filter(|name| !listed.contains(*name)).map(|name| (name.to_owned(), Drift::Gone)).collect()
    }

    /// The difference from the accepted instructions.
    pub(crate) fn instructions_drift(&self, offer: &Arc<Offer>) -> Option<Drift> {
        // Before the login the instructions are our own.
        let LockRules { hashes, .. } = self.rules.lock.as_ref().filter(|_| !offer.signs_in)?;
        let accepted = hashes.get(&LockKind::Instructions.key(""));
        let text = offer.introduction.member_as::<String>("instructions").filter(|text| !text.is_empty());
        let now = text.map(|text| hash(&serde_json::Value::String(text)));
        match (accepted, now) {
            (None, None) => None,
            (None, Some(_)) => Some(Drift::New),
            (Some(_), None) => Some(Drift::Gone),
            (Some(accepted), Some(now)) => (*accepted != now).then_some(Drift::Changed),
        }
    }
}

fn lock_kind(kind: Kind) -> Option<LockKind> {
    match kind {
        Kind::Tools => Some(LockKind::Tool),
        Kind::Prompts => Some(LockKind::Prompt),
        Kind::Templates => Some(LockKind::Template),
        Kind::Resources => None,
    }
}
