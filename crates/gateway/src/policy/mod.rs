//! Policy: who may do what.
//!
//! Everything that can be requested has a subject, `<server>_<what>`: for a tool or prompt its
//! prefixed public name, whatever it is called in a view; for a resource the server's name and the
//! URI; for any other method the server's name and the method. Each role has one list of globs for
//! all subjects. The same list decides what is listed and what may be called.
//!
//! A caller may do what at least one of its roles allows and none denies. For a caller without any
//! configured role `otherwise` applies; if that is not set, it may do nothing.

mod filter;
mod permit;

use crate::{
    catalog::{Route, Server},
    view::{NameTable, View},
};
use std::collections::{BTreeMap, BTreeSet};
use trunkline_protocol::{Caller, ServerName, method};

pub use filter::{BadGlob, FilterRules};
pub(crate) use filter::{Filter, glob};
pub(crate) use permit::Key;
pub use permit::Permit;

/// The configured roles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyRules {
    pub roles: BTreeMap<String, RoleRules>,
    /// For callers without any of these roles; its callers and scopes have no meaning.
    pub otherwise: Option<RoleRules>,
}

/// One role: what it may do, and which callers have it in addition to those whose key or token
/// names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoleRules {
    pub filter: FilterRules,
    /// Ids of callers that have the role.
    pub callers: Vec<String>,
    /// Token scopes that give the role.
    pub scopes: Vec<String>,
    /// True if its callers may see what concerns the operation of all servers: errors, paths,
    /// sessions and metrics.
    pub operate: bool,
}

/// Compiled [`PolicyRules`].
#[derive(Debug, Clone, Default)]
pub struct Policy {
    roles: BTreeMap<String, Role>,
    otherwise: Option<Role>,
}

#[derive(Debug, Clone)]
struct Role {
    filter: Filter,
    callers: BTreeSet<String>,
    scopes: BTreeSet<String>,
    operate: bool,
}

/// The configured roles of a caller. Two callers with the same standing see the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Standing(Vec<String>);

impl Policy {
    pub fn new(rules: &PolicyRules) -> Result<Self, BadGlob> {
        let roles = rules.roles.iter().map(|(role, rules)| Ok((role.clone(), Role::new(rules)?)));
        let otherwise = rules.otherwise.as_ref().map(Role::new).transpose()?;
        Ok(Self { roles: roles.collect::<Result<_, BadGlob>>()?, otherwise })
    }

    /// True if every caller may do everything.
    pub fn is_open(&self) -> bool {
        self.roles.is_empty() && self.otherwise.is_none()
    }

    /// True if the caller may see errors, paths, sessions and metrics. Without roles every caller
    /// may. The local caller always may: where callers are not authenticated, the operator cannot
    /// be told from other programs of this machine.
    pub fn may_operate(&self, caller: &Caller) -> bool {
        self.is_open() || Caller::is_local(caller) || self.rules_for(caller).any(|role| role.operate)
    }

    /// The scopes of which any one would give a role to a caller that has none; empty if it has
    /// one, or needs none.
    pub fn helpful_scopes(&self, caller: &Caller) -> Vec<String> {
        if self.is_open() || self.rules_for(caller).next().is_some() {
            return Vec::new();
        }
        let scopes: BTreeSet<&String> = self.roles.values().flat_map(|role| &role.scopes).collect();
        scopes.into_iter().cloned().collect()
    }

    /// True if the caller may use an item that is not listed here.
    pub(crate) fn allows_item(&self, caller: &Caller, server: &ServerName, name: &str) -> bool {
        self.admits_subject(caller, &subject(server.as_ref(), name), &[name])
    }

    /// Permission to use a listed item.
    pub fn permit<'a>(&self, caller: &Caller, route: &'a Route) -> Option<Permit<'a>> {
        self.admits(caller, route).then(|| Permit::new(route.server()))
    }

    /// Permission to use something of a server that is not listed.
    pub(crate) fn permit_to<'a>(
        &self,
        caller: &Caller,
        server: &'a Server,
        what: &str,
    ) -> Option<Permit<'a>> {
        let admitted =
            self.is_open() || self.admits_subject(caller, &subject(server.name().as_ref(), what), &[what]);
        admitted.then(|| Permit::new(server))
    }

    /// Permission to use the item with this subject.
    pub(crate) fn permit_known<'a>(
        &self,
        caller: &Caller,
        server: &'a Server,
        subject: &str,
    ) -> Option<Permit<'a>> {
        self.admits_subject(caller, subject, &[]).then(|| Permit::new(server))
    }

    /// Permission to communicate with a server at all: for callers that may use anything of it.
    pub(crate) fn permit_contact<'a>(
        &self,
        caller: &Caller,
        view: &View,
        server: &'a Server,
    ) -> Option<Permit<'a>> {
        if let Some(permit) = self.permit_to(caller, server, method::DISCOVER) {
            return Some(permit);
        }
        let tables = [&view.tools, &view.prompts, &view.resources, &view.templates];
        let mut own =
            tables.into_iter().flat_map(NameTable::routes).filter(|r| r.server().name() == server.name());
        own.any(|route| self.admits(caller, route)).then(|| Permit::new(server))
    }

    /// True if the caller may use anything of a view. A server that never connected counts if the
    /// rules could allow something of it.
    pub(crate) fn may_enter(&self, caller: &Caller, view: &View) -> bool {
        self.is_open() || view.servers.iter().any(|server| self.may_use(caller, view, server))
    }

    /// True if the caller may use anything of a server, or could once its items are known.
    pub(crate) fn may_use(&self, caller: &Caller, view: &View, server: &Server) -> bool {
        self.permit_contact(caller, view, server).is_some()
            || (server.offer().is_none() && self.may_reach(caller, server.name().as_ref()))
    }

    /// True if the rules could allow something of a server whose items are unknown.
    fn may_reach(&self, caller: &Caller, server: &str) -> bool {
        let start = subject(server, "");
        // A rule that matches both the bare prefix and some other text denies the whole server.
        let some = subject(server, method::DISCOVER);
        let filters: Vec<&Filter> = self.rules_for(caller).map(|role| &role.filter).collect();
        let denied = |filter: &&Filter| filter.denies(&start) && filter.denies(&some);
        !filters.iter().any(denied) && filters.iter().any(|filter| filter.may_allow(&start))
    }

    /// Permission to subscribe to several resources; each of them must be permitted.
    pub(crate) fn permit_relay<'a>(
        &self,
        caller: &Caller,
        server: &'a Server,
        mut uris: impl Iterator<Item = &'a String>,
    ) -> Option<Permit<'a>> {
        uris.all(|uri| self.permit_to(caller, server, uri).is_some()).then(|| Permit::new(server))
    }

    pub(crate) fn admits(&self, caller: &Caller, route: &Route) -> bool {
        self.is_open() || self.admits_subject(caller, route.subject(), &route.further_names())
    }

    /// An item is also denied by its further names: the server's own name, and its subject before
    /// it was cut or renamed. So neither a long name nor a rename can bypass a rule.
    pub(crate) fn admits_subject(&self, caller: &Caller, subject: &str, further: &[&str]) -> bool {
        if self.is_open() {
            return true;
        }
        let denied =
            |filter: &Filter| filter.denies(subject) || further.iter().any(|name| filter.denies(name));
        let mut allowed = false;
        for role in self.rules_for(caller) {
            if denied(&role.filter) {
                return false;
            }
            allowed |= role.filter.allows(subject);
        }
        allowed
    }

    pub(crate) fn standing(&self, caller: &Caller) -> Standing {
        Standing(self.roles_of(caller).map(|(name, _)| name.clone()).collect())
    }

    /// The rules for a caller: those of its roles, or of `otherwise` if it has none.
    fn rules_for<'a>(&'a self, caller: &'a Caller) -> impl Iterator<Item = &'a Role> {
        let mut own = self.roles_of(caller).map(|(_, role)| role).peekable();
        let otherwise = if own.peek().is_none() { self.otherwise.as_ref() } else { None };
        own.chain(otherwise)
    }

    /// The configured roles of a caller, ordered by name.
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
            operate: rules.operate,
        })
    }

    fn has(&self, caller: &Caller) -> bool {
        self.callers.contains(&caller.id) || caller.scopes.iter().any(|scope| self.scopes.contains(scope))
    }
}

impl From<FilterRules> for RoleRules {
    fn from(filter: FilterRules) -> Self {
        Self { filter, ..Self::default() }
    }
}

impl Standing {
    pub(crate) fn roles(&self) -> &[String] {
        &self.0
    }
}

/// The subject of the item that `server` calls `what`.
pub(crate) fn subject(server: &str, what: &str) -> String {
    format!("{server}_{what}")
}
