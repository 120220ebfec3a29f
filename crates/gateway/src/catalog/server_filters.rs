//! The rules of one server, compiled.

use super::rules::{ItemRules, KindRules, ServerRules};
use crate::{
    policy::{BadGlob, Filter, matcher},
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
    filter: Filter,
    items: Vec<(GlobMatcher, ItemRules)>,
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

    /// Whether nothing is said about tools and prompts.
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
        let items = rules.items.iter().map(|item| Ok((matcher(&item.name)?, item.clone())));
        Ok(Self { filter: Filter::new(&rules.filter)?, items: items.collect::<Result<_, BadGlob>>()? })
    }

    /// Whether a thing of this name is offered at all, listed or not.
    pub(crate) fn offers(&self, name: &str) -> bool {
        self.filter.admits(name) && self.rules_of(name).is_none_or(|rules| !rules.hide)
    }

    /// What is said about this name: a rule names it as it is, or by a glob.
    pub(crate) fn rules_of(&self, name: &str) -> Option<&ItemRules> {
        let fits = |(glob, rules): &&(GlobMatcher, ItemRules)| rules.name == name || glob.is_match(name);
        self.items.iter().find(fits).map(|(_, rules)| rules)
    }
}
