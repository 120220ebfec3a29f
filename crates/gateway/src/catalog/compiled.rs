//! Compiled: one list of one server, judged item by item. It is made anew only when the list or the rules change.

use super::{
    item::Item,
    quarantine::{Quarantined, Reason},
    rules::{ItemRules, KindRules, ServerRules},
};
use crate::{
    policy::{BadGlob, Filter, glob},
    upstream::Kind,
};
use globset::GlobMatcher;
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
    tools: KindFilter,
    prompts: KindFilter,
    resources: KindFilter,
}

/// The rules for one kind of things.
#[derive(Debug, Default)]
struct KindFilter {
    names: Filter,
    items: Vec<(String, GlobMatcher, ItemRules)>,
}

impl ServerFilters {
    pub(crate) fn new(rules: &ServerRules) -> Result<Self, BadGlob> {
        Ok(Self {
            tools: KindFilter::new(&rules.tools)?,
            prompts: KindFilter::new(&rules.prompts)?,
            resources: KindFilter::new(&rules.resources)?,
            rules: rules.clone(),
        })
    }

    fn of(&self, kind: Kind) -> &KindFilter {
        match kind {
            Kind::Tools => &self.tools,
            Kind::Prompts => &self.prompts,
            Kind::Resources | Kind::Templates => &self.resources,
        }
    }
}

impl KindFilter {
    fn new(rules: &KindRules) -> Result<Self, BadGlob> {
        let item = |(name, rules): &(String, ItemRules)| Ok((name.clone(), glob(name)?, rules.clone()));
        Ok(Self {
            names: Filter::new(&rules.filter)?,
            items: rules.items.iter().map(item).collect::<Result<_, BadGlob>>()?,
        })
    }

    /// What is said about one thing, by all rules that fit it together.
    fn about(&self, name: &str) -> ItemRules {
        let mut told = ItemRules::default();
        for (text, glob, rules) in &self.items {
            if text == name || glob.is_match(name) {
                told.complete(rules);
            }
        }
        told
    }
}

impl ItemRules {
    /// Adds what a later rule says about matters that no earlier one spoke of.
    fn complete(&mut self, later: &Self) {
        self.rename = self.rename.take().or_else(|| later.rename.clone());
        self.hide = self.hide.or(later.hide);
        self.description = self.description.take().or_else(|| later.description.clone());
        for (name, value) in later.annotations.iter() {
            if self.annotations.get(name).is_none() {
                self.annotations.set(name.to_owned(), value.clone());
            }
        }
    }
}

impl Compiled {
    pub(crate) fn new(kind: Kind, list: &Arc<[Raw]>, server: &ServerFilters) -> Self {
        let rules = server.of(kind);
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
            let own = rules.about(&name);
            if own.hide == Some(true) || !rules.names.admits(&name) {
                compiled.hidden.push(super::quarantine::shown(&name));
                continue;
            }
            if seen.contains(name.as_str()) {
                compiled.quarantine(&name, &Reason::Twice);
                continue;
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
