//! The rules of one server, compiled.

use super::rules::{ItemRules, KindRules, ServerRules};
use crate::{
    policy::{BadGlob, Filter, glob},
    upstream::Kind,
};
use globset::GlobMatcher;

/// Compiled [`ServerRules`].
#[derive(Debug, Default)]
pub(crate) struct ServerFilters {
    pub(super) rules: ServerRules,
    tools: KindFilters,
    prompts: KindFilters,
    resources: KindFilters,
}

/// Compiled [`KindRules`].
#[derive(Debug, Default)]
pub(crate) struct KindFilters {
    names: Filter,
    items: Vec<(String, GlobMatcher, ItemRules)>,
}

impl ServerFilters {
    pub(crate) fn new(rules: &ServerRules) -> Result<Self, BadGlob> {
        Ok(Self {
            tools: KindFilters::new(&rules.tools)?,
            prompts: KindFilters::new(&rules.prompts)?,
            resources: KindFilters::new(&rules.resources)?,
            rules: rules.clone(),
        })
    }

    /// True if there are no rules for tools and prompts.
    pub(crate) fn is_plain(&self) -> bool {
        self.rules.tools == KindRules::default() && self.rules.prompts == KindRules::default()
    }

    pub(crate) fn of(&self, kind: Kind) -> &KindFilters {
        match kind {
            Kind::Tools => &self.tools,
            Kind::Prompts => &self.prompts,
            Kind::Resources | Kind::Templates => &self.resources,
        }
    }
}

impl KindFilters {
    fn new(rules: &KindRules) -> Result<Self, BadGlob> {
        let item = |(name, rules): &(String, ItemRules)| Ok((name.clone(), glob(name)?, rules.clone()));
        Ok(Self {
            names: Filter::new(&rules.filter)?,
            items: rules.items.iter().map(item).collect::<Result<_, BadGlob>>()?,
        })
    }

    /// True if an item of this name may be offered, listed or not.
    pub(crate) fn offers(&self, name: &str) -> bool {
        self.admits(name) && self.about(name).hide != Some(true)
    }

    pub(super) fn admits(&self, name: &str) -> bool {
        self.names.admits(name)
    }

    /// The rules for one item, merged from all entries that match it.
    pub(super) fn about(&self, name: &str) -> ItemRules {
        let mut merged = ItemRules::default();
        for (text, glob, rules) in &self.items {
            if text == name || glob.is_match(name) {
                merged.complete(rules);
            }
        }
        merged
    }
}

impl ItemRules {
    /// Fills the fields that no earlier rule has set.
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
