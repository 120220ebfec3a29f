//! Roles: the short form of rules. A role has globs for all that its callers may use.

use super::filter::{BadGlob, Filter, FilterRules};
use std::collections::{BTreeMap, BTreeSet};
use trunkline_protocol::{Caller, method};

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

/// All roles, compiled.
#[derive(Debug, Clone, Default)]
pub(crate) struct Roles {
    by_name: BTreeMap<String, Role>,
    otherwise: Option<Role>,
}

#[derive(Debug, Clone)]
struct Role {
    filter: Filter,
    callers: BTreeSet<String>,
    scopes: BTreeSet<String>,
    operate: bool,
}

/// The role that decided, for explanations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RoleVerdict {
    /// There are no roles.
    Open,
    /// The caller has no role, and there is no default role.
    NoRole,
    Denied(String),
    Allowed(String),
    /// None of these allows it.
    NotAllowed(Vec<String>),
}

impl RoleVerdict {
    /// The name of the default role in explanations.
    pub(crate) const OTHERWISE: &str = "defaultRole";
}

impl Roles {
    pub(super) fn new(
        roles: &BTreeMap<String, RoleRules>,
        otherwise: Option<&RoleRules>,
    ) -> Result<Self, BadGlob> {
        let by_name = roles.iter().map(|(role, rules)| Ok((role.clone(), Role::new(rules)?)));
        let otherwise = otherwise.map(Role::new).transpose()?;
        Ok(Self { by_name: by_name.collect::<Result<_, BadGlob>>()?, otherwise })
    }

    /// True if there are none, so that every caller may do everything.
    pub(super) fn is_open(&self) -> bool {
        self.by_name.is_empty() && self.otherwise.is_none()
    }

    pub(super) fn may_operate(&self, caller: &Caller) -> bool {
        self.of(caller).any(|(_, role)| role.operate)
    }

    /// The scopes that would give a role to a caller that has none; one of them suffices.
    pub(super) fn helpful_scopes(&self, caller: &Caller) -> Vec<String> {
        if self.is_open() || self.of(caller).next().is_some() {
            return Vec::new();
        }
        let scopes: BTreeSet<&String> = self.by_name.values().flat_map(|role| &role.scopes).collect();
        scopes.into_iter().cloned().collect()
    }

    /// True if the configuration gives this role to the caller.
    pub(super) fn gives(&self, role: &str, caller: &Caller) -> bool {
        self.by_name.get(role).is_some_and(|role| role.has(caller))
    }

    /// The configured roles of a caller, ordered by name.
    pub(super) fn names(&self, caller: &Caller) -> Vec<String> {
        self.named(caller).map(|(name, _)| name.to_owned()).collect()
    }

    /// An item is also denied by its further names: the server's own name, and its subject before
    /// it was cut or renamed. So neither a long name nor a rename can bypass a rule.
    pub(super) fn admit(&self, caller: &Caller, subject: &str, further: &[&str]) -> bool {
        self.is_open() || matches!(self.judge(caller, subject, further), RoleVerdict::Allowed(_))
    }

    pub(super) fn judge(&self, caller: &Caller, subject: &str, further: &[&str]) -> RoleVerdict {
        if self.is_open() {
            return RoleVerdict::Open;
        }
        let (mut allowed, mut held) = (None, Vec::new());
        for (name, role) in self.of(caller) {
            if role.filter.denies(subject) || further.iter().any(|name| role.filter.denies(name)) {
                return RoleVerdict::Denied(name.to_owned());
            }
            if allowed.is_none() && role.filter.allows(subject) {
                allowed = Some(name);
            }
            held.push(name);
        }
        match allowed {
            Some(name) => RoleVerdict::Allowed(name.to_owned()),
            None if held.is_empty() => RoleVerdict::NoRole,
            None => RoleVerdict::NotAllowed(held.into_iter().map(str::to_owned).collect()),
        }
    }

    /// True if a caller could be allowed something of a server whose items are unknown.
    pub(super) fn could_reach(&self, caller: &Caller, server: &str) -> bool {
        if self.is_open() {
            return true;
        }
        let start = super::subject(server, "");
        // A rule that matches both the bare prefix and some other text denies the whole server.
        let some = super::subject(server, method::DISCOVER);
        let filters: Vec<&Filter> = self.of(caller).map(|(_, role)| &role.filter).collect();
        let denied = |filter: &&Filter| filter.denies(&start) && filter.denies(&some);
        !filters.iter().any(denied) && filters.iter().any(|filter| filter.may_allow(&start))
    }

    /// The roles of a caller, or `otherwise` if it has none.
    fn of<'a>(&'a self, caller: &'a Caller) -> impl Iterator<Item = (&'a str, &'a Role)> {
        let mut own = self.named(caller).peekable();
        let otherwise = if own.peek().is_none() { self.otherwise.as_ref() } else { None };
        own.chain(otherwise.map(|role| (RoleVerdict::OTHERWISE, role)))
    }

    fn named<'a>(&'a self, caller: &'a Caller) -> impl Iterator<Item = (&'a str, &'a Role)> {
        let has = |(name, role): &(&'a str, &'a Role)| {
            caller.roles.iter().any(|own| own == name) || role.has(caller)
        };
        self.by_name.iter().map(|(name, role)| (name.as_str(), role)).filter(has)
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
