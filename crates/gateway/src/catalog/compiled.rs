//! Compiled: one list of one server, judged item by item. It is made anew only when the list or the rules change.

use super::{
    item::Item,
    quarantine::{Quarantined, Reason},
    rules::{KindRules, ServerRules},
};
use crate::{
    policy::{BadGlob, Filter},
    upstream::Kind,
};
use std::{collections::HashSet, sync::Arc};
use trunkline_protocol::Raw;

/// The most items of one list.
const MAX_ITEMS: usize = 20_000;
/// The most quarantined items that are told one by one.
const MAX_TOLD: usize = 1000;

/// A list ready for the views.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    pub(crate) items: Vec<Arc<Item>>,
    pub(crate) quarantined: Vec<Quarantined>,
    /// Names that the rules hide.
    pub(crate) hidden: Vec<String>,
    /// What it was made of.
    source: Arc<[Raw]>,
}

/// The rules of one server, with its filters compiled.
#[derive(Debug, Default)]
pub(crate) struct ServerFilters {
    rules: ServerRules,
    tools: Filter,
    prompts: Filter,
    resources: Filter,
}

impl ServerFilters {
    pub(crate) fn new(rules: &ServerRules) -> Result<Self, BadGlob> {
        Ok(Self {
            tools: Filter::new(&rules.tools.filter)?,
            prompts: Filter::new(&rules.prompts.filter)?,
            resources: Filter::new(&rules.resources.filter)?,
            rules: rules.clone(),
        })
    }

    fn of(&self, kind: Kind) -> (&KindRules, &Filter) {
        match kind {
            Kind::Tools => (&self.rules.tools, &self.tools),
            Kind::Prompts => (&self.rules.prompts, &self.prompts),
            Kind::Resources | Kind::Templates => (&self.rules.resources, &self.resources),
        }
    }
}

impl Compiled {
    pub(crate) fn new(kind: Kind, list: &Arc<[Raw]>, server: &ServerFilters) -> Self {
        let (rules, filter) = server.of(kind);
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
            let own = rules.items.get(&name);
            if own.is_some_and(|own| own.hide) || !filter.admits(&name) {
                compiled.hidden.push(super::quarantine::shown(&name));
                continue;
            }
            if seen.contains(name.as_str()) {
                compiled.quarantine(&name, &Reason::Twice);
                continue;
            }
            match Item::new(kind, &name, raw, (&server.rules, own)) {
                Ok(item) => {
                    seen.insert(Arc::clone(&item.inner));
                    compiled.items.push(Arc::new(item));
                }
                Err(reason) => compiled.quarantine(&name, &reason),
            }
        }
        compiled
    }

    /// Whether this is what the list would give again. A list that only changed its order keeps the one it had: clients see
    /// a stable order even of a server that has none.
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
        if self.quarantined.len() < MAX_TOLD {
            self.quarantined.push(Quarantined::new(name, reason));
        }
    }
}
