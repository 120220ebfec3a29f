//! Policy: who may do what.
//!
//! Everything that can be asked for has a subject, `<server>_<what>`: the public name of a tool or prompt whatever it is called
//! in a view, the server's name with the URI of a resource, or with the method where a method has no other subject. One list
//! of globs per role speaks about all of them, and the same list decides what is listed and what is answered.
//!
//! A caller may do what one of their roles allows and none of them denies. Whoever has none of the roles that rules speak of
//! gets what `otherwise` says, and nothing where it says nothing.

mod filter;
mod permit;

use crate::{
    catalog::{Route, Server},
    view::{NameTable, View},
};
use std::collections::{BTreeMap, BTreeSet};
use trunkline_protocol::{Caller, method};

pub use filter::{BadGlob, FilterRules};
pub(crate) use filter::{Filter, glob};
pub(crate) use permit::Key;
pub use permit::Permit;

/// What the configuration says about roles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyRules {
    pub roles: BTreeMap<String, RoleRules>,
    /// For callers without any of these roles.
    pub otherwise: Option<FilterRules>,
}

/// One role: what it may do, and who has it besides those whose key or token says so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoleRules {
    pub filter: FilterRules,
    /// Ids of callers.
    pub callers: Vec<String>,
    /// Scopes of tokens.
    pub scopes: Vec<String>,
}

/// Compiled [`PolicyRules`].
#[derive(Debug, Clone, Default)]
pub struct Policy {
    roles: BTreeMap<String, Role>,
    otherwise: Option<Filter>,
}

#[derive(Debug, Clone)]
struct Role {
    filter: Filter,
    callers: BTreeSet<String>,
    scopes: BTreeSet<String>,
}

/// All that a policy knows about a caller: two callers of one standing see the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Standing(Vec<String>);

impl Policy {
    pub fn new(rules: &PolicyRules) -> Result<Self, BadGlob> {
        let roles = rules.roles.iter().map(|(role, rules)| Ok((role.clone(), Role::new(rules)?)));
        let otherwise = rules.otherwise.as_ref().map(Filter::new).transpose()?;
        Ok(Self { roles: roles.collect::<Result<_, BadGlob>>()?, otherwise })
    }

    /// Whether everybody may do everything.
    pub fn is_open(&self) -> bool {
        self.roles.is_empty() && self.otherwise.is_none()
    }

    /// Leave to ask for something that is listed.
    pub fn permit<'a>(&self, caller: &Caller, route: &'a Route) -> Option<Permit<'a>> {
        self.admits(caller, route).then(|| Permit::new(route.server()))
    }

    /// Leave to ask a server for something that is not listed.
    pub(crate) fn permit_to<'a>(
        &self,
        caller: &Caller,
        server: &'a Server,
        what: &str,
    ) -> Option<Permit<'a>> {
        let admitted =
            self.is_open() || self.admits_subject(caller, &subject(server.name().as_ref(), what), None);
        admitted.then(|| Permit::new(server))
    }

    /// Leave to ask a server about something whose whole subject is known.
    pub(crate) fn permit_known<'a>(
        &self,
        caller: &Caller,
        server: &'a Server,
        subject: &str,
    ) -> Option<Permit<'a>> {
        self.admits_subject(caller, subject, None).then(|| Permit::new(server))
    }

    /// Leave to speak with a server at all: for callers who may ask it for something, whatever that is.
    pub(crate) fn permit_acquaintance<'a>(
        &self,
        caller: &Caller,
        view: &View,
        server: &'a Server,
    ) -> Option<Permit<'a>> {
        if let Some(permit) = self.permit_to(caller, server, method::DISCOVER) {
            return Some(permit);
        }
        let shelves = [&view.tools, &view.prompts, &view.resources, &view.templates];
        let mut own =
            shelves.into_iter().flat_map(NameTable::routes).filter(|r| r.server().name() == server.name());
        own.any(|route| self.admits(caller, route)).then(|| Permit::new(server))
    }

    /// Leave to ask a server for news of several things, every one of them permitted by itself.
    pub(crate) fn permit_relay<'a>(
        &self,
        caller: &Caller,
        server: &'a Server,
        mut uris: impl Iterator<Item = &'a String>,
    ) -> Option<Permit<'a>> {
        uris.all(|uri| self.permit_to(caller, server, uri).is_some()).then(|| Permit::new(server))
    }

    pub(crate) fn admits(&self, caller: &Caller, route: &Route) -> bool {
        self.is_open() || self.admits_subject(caller, route.subject(), route.former_subject())
    }

    /// A renamed thing is denied by its former name as well: a new name must not open what was closed.
    pub(crate) fn admits_subject(&self, caller: &Caller, subject: &str, former: Option<&str>) -> bool {
        if self.is_open() {
            return true;
        }
        let denied =
            |filter: &Filter| filter.denies(subject) || former.is_some_and(|name| filter.denies(name));
        let mut own = self.roles_of(caller).map(|(_, role)| &role.filter).peekable();
        if own.peek().is_none() {
            return self.otherwise.as_ref().is_some_and(|filter| filter.allows(subject) && !denied(filter));
        }
        let mut allowed = false;
        for filter in own {
            if denied(filter) {
                return false;
            }
            allowed |= filter.allows(subject);
        }
        allowed
    }

    pub(crate) fn standing(&self, caller: &Caller) -> Standing {
        Standing(self.roles_of(caller).map(|(name, _)| name.clone()).collect())
    }

    /// The roles of a caller that rules speak of, in the order of their names.
    fn roles_of<'a>(&'a self, caller: &'a Caller) -> impl Iterator<Item = (&'a String, &'a Role)> {
        self.roles.iter().filter(|(name, role)| caller.roles.contains(name) || role.has(caller))
    }
}

impl Role {
    fn new(rules: &RoleRules) -> Result<Self, BadGlob> {
        Ok(Self {
            filter: Filter::new(&rules.filter)?,
            callers: rules.callers.iter().cloned().collect(),
            scopes: rules.scopes.iter().cloned().collect(),
        })
    }

    fn has(&self, caller: &Caller) -> bool {
        self.callers.contains(&caller.id) || caller.scopes.iter().any(|scope| self.scopes.contains(scope))
    }
}

impl Standing {
    pub(crate) fn roles(&self) -> &[String] {
        &self.0
    }
}

/// What policy calls the thing that `server` calls `what`.
pub(crate) fn subject(server: &str, what: &str) -> String {
    format!("{server}_{what}")
}
