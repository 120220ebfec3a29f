//! The rules of one server, compiled.

use super::rules::{ItemRules, KindRules, Rules, ServerRules};
use crate::{
    policy::{self, BadGlob, Filter, glob},
    upstream::Kind,
};
use globset::GlobMatcher;
use trunkline_protocol::{PublicName, ServerName, ToolName};

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
    /// The prefix of public names.
    server: Option<ServerName>,
    names: Filter,
    items: Vec<(String, GlobMatcher, ItemRules)>,
}

impl ServerFilters {
    /// The filters of a server; one without rules offers everything.
    pub(crate) fn of_server(rules: &Rules, server: &ServerName) -> Result<Self, BadGlob> {
        let Some(rules) = rules.servers.get(server) else { return Ok(Self::default()) };
        let new = |rules: &KindRules| KindFilters::new(server, rules);
        Ok(Self {
            tools: new(&rules.tools)?,
            prompts: new(&rules.prompts)?,
            resources: new(&rules.resources)?,
            rules: rules.clone(),
        })
    }

    /// True if there are no rules for tools and prompts.
    pub(crate) fn is_plain(&self) -> bool {
        self.rules.tools == KindRules::default()
            && self.rules.prompts == KindRules::default()
            && !self.is_enforced()
    }

    pub(crate) fn result_bytes(&self) -> Option<usize> {
        self.rules.result_bytes
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
    fn new(server: &ServerName, rules: &KindRules) -> Result<Self, BadGlob> {
        let item = |(name, rules): &(String, ItemRules)| Ok((name.clone(), glob(name)?, rules.clone()));
        Ok(Self {
            server: Some(server.clone()),
            names: Filter::new(&rules.filter)?,
            items: rules.items.iter().map(item).collect::<Result<_, BadGlob>>()?,
        })
    }

    /// True if an item of this name may be offered, listed or not.
    pub(crate) fn offers(&self, name: &str) -> bool {
        self.admits(name) && self.about(name).hide != Some(true)
    }

    /// `deny` also matches the public name, whole and as it is cut or renamed: the author of a
    /// rule may have copied it from a list.
    pub(super) fn admits(&self, name: &str) -> bool {
        self.names.admits(name) && !self.denies(name)
    }

    pub(super) fn denies(&self, name: &str) -> bool {
        self.names.denies(name) || self.public_names(name).iter().any(|public| self.names.denies(public))
    }

    /// The name of the item that is renamed to this one.
    pub(super) fn before_renaming(&self, renamed: &str) -> Option<&str> {
        let renames =
            |(_, _, rules): &&(String, GlobMatcher, ItemRules)| rules.rename.as_deref() == Some(renamed);
        self.items.iter().find(renames).map(|(name, _, _)| name.as_str())
    }

    fn public_names(&self, name: &str) -> Vec<String> {
        let Some(server) = self.server.as_ref().filter(|_| self.names.denies_any()) else {
            return Vec::new();
        };
        let public = |own: &str| PublicName::join(server, &ToolName::from(own)).as_str().to_owned();
        let renamed = self.about(name).rename;
        let whole = [name].into_iter().chain(renamed.as_deref());
        whole.flat_map(|own| [policy::subject(server.as_ref(), own), public(own)]).collect()
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
        for tag in &later.tags {
            if !self.tags.contains(tag) {
                self.tags.push(tag.clone());
            }
        }
        for (name, value) in later.annotations.iter() {
            if self.annotations.get(name).is_none() {
                self.annotations.set(name.to_owned(), value.clone());
            }
        }
    }
}
