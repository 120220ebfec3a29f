//! Compiled: one list of one server after filtering and checking each item. It is rebuilt only if
//! the list or the rules change.

use super::{
    item::Item,
    lock::Drift,
    quarantine::{Quarantined, Reason},
    server_filters::ServerFilters,
};
use crate::upstream::Kind;
use std::{collections::HashSet, sync::Arc};
use trunkline_protocol::Raw;

/// Most items of one list.
const MAX_ITEMS: usize = 20_000;
/// Most quarantined items in the report.
const MAX_REPORTED: usize = 1000;

/// A list ready for the views.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    pub(crate) items: Vec<Arc<Item>>,
    pub(crate) quarantined: Vec<Quarantined>,
    /// Names that the rules hide.
    pub(crate) hidden: Vec<String>,
    /// Items that differ from their accepted definitions.
    pub(crate) drifted: Vec<(String, Drift)>,
    /// The list that it was made from.
    source: Arc<[Raw]>,
}

impl Compiled {
    /// A list of the server, and the names of those of its items that are ours.
    pub(crate) fn new(kind: Kind, list: &Arc<[Raw]>, own: &[&str], server: &ServerFilters) -> Self {
        let mut compiled = Self::made(kind, list, server, |name| own.contains(&name));
        compiled.drifted.extend(server.gone(kind, list));
        compiled
    }

    /// A list that is not the server's but ours: it need not be accepted, and `allow` names the
    /// server's own items only.
    pub(crate) fn of_ours(kind: Kind, list: &Arc<[Raw]>, server: &ServerFilters) -> Self {
        Self::made(kind, list, server, |_| true)
    }

    fn made(kind: Kind, list: &Arc<[Raw]>, server: &ServerFilters, is_ours: impl Fn(&str) -> bool) -> Self {
        let filters = server.of(kind);
        let mut compiled = Self { source: Arc::clone(list), ..Self::default() };
        let mut seen: HashSet<Arc<str>> = HashSet::new();
        for (place, raw) in list.iter().enumerate() {
            if place >= MAX_ITEMS {
                compiled.quarantine(&format!("items from {MAX_ITEMS} on"), &Reason::TooMany(MAX_ITEMS));
                break;
            }
            let name = match Item::name(kind, raw) {
                Ok(name) => name,
                Err(reason) => {
                    compiled.quarantine(&format!("item {place}"), &reason);
                    continue;
                }
            };
            let own = filters.about(&name);
            let is_ours = is_ours(&name);
            let is_admitted = if is_ours { !filters.denies(&name) } else { filters.admits(&name) };
            if own.hide == Some(true) || !is_admitted {
                compiled.hidden.push(super::quarantine::shown(&name));
                continue;
            }
            if seen.contains(name.as_str()) {
                compiled.quarantine(&name, &Reason::Twice);
                continue;
            }
            if !is_ours && let Some(drift) = server.drift(kind, &name, raw) {
                compiled.drifted.push((super::quarantine::shown(&name), drift));
                if server.is_enforced() {
                    compiled.quarantine(&name, &Reason::Drifted(drift));
                    continue;
                }
            }
            match Item::new(kind, &name, raw, (&server.rules, &own)) {
                Ok(item) => {
                    seen.insert(Arc::clone(&item.inner));
                    compiled.items.push(Arc::new(item));
                }
                Err(reason) => compiled.quarantine(&name, &reason),
            }
        }
        compiled
    }

    /// True if compiling `list` would give the same items. The order is ignored: clients see a
    /// stable order even if the server's is random.
    pub(crate) fn still_holds(&self, list: &Arc<[Raw]>) -> bool {
        if Arc::ptr_eq(&self.source, list) {
            return true;
        }
        if self.source.len() != list.len() {
            return false;
        }
        if self.source == *list {
            return true;
        }
        let sorted = |list: &[Raw]| {
            let mut texts: Vec<_> = list.iter().map(|raw| raw.bytes().clone()).collect();
            texts.sort_unstable();
            texts
        };
        sorted(&self.source) == sorted(list)
    }

    fn quarantine(&mut self, name: &str, reason: &Reason) {
        if self.quarantined.len() < MAX_REPORTED {
            self.quarantined.push(Quarantined::new(name, reason));
        }
    }
}
