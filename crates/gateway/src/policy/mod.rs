//! Policy: who may do what.
//!
//! Everything that can be requested has a subject, `<server>_<what>`: for a tool or prompt its
//! prefixed public name, whatever it is called in a view; for a resource the server's name and the
//! URI; for any other method the server's name and the method. The same policy decides what is
//! listed and what may be called.
//!
//! A call must be allowed twice. Roles come first: a caller may do what at least one of its roles
//! allows and none denies; for a caller without any configured role `otherwise` applies, and if
//! that is not set, it may do nothing. Then the rules are read from top to bottom, and the first
//! that matches decides.

mod agreement;
mod asker;
mod condition;
mod explained;
mod filter;
mod path;
mod pattern;
mod permit;
mod roles;
mod rule;
mod rule_table;
mod rules;
mod truth;
mod verdict;
mod window;

use crate::{
    catalog::{Route, Server},
    view::{NameTable, View},
};
use std::collections::BTreeMap;
use trunkline_protocol::{Call, Caller, ServerName, method};

pub(crate) use agreement::Agreement;
pub(crate) use asker::Asker;
pub(crate) use explained::Explained;
pub use explained::{RecordedArguments, RecordedCall};
pub use filter::{BadGlob, FilterRules};
pub(crate) use filter::{Filter, glob};
pub(crate) use permit::Key;
pub use permit::Permit;
pub use roles::RoleRules;
pub(crate) use roles::RoleVerdict;
pub use rule::BadRule;
pub(crate) use rule::{Target, ToolTraits, Traits};
pub(crate) use rule_table::Applicable;
pub use rules::{ArgumentSpec, Consent, Effect, RuleSet, RuleSpec, WindowSpec};
pub(crate) use verdict::Verdict;
pub use verdict::{Access, Asked, Denial};
pub use window::timestamp;

/// The configured roles and rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyRules {
    pub roles: BTreeMap<String, RoleRules>,
    /// For callers without any of these roles; its callers and scopes have no meaning.
    pub otherwise: Option<RoleRules>,
    pub rules: RuleSet,
}

/// Compiled [`PolicyRules`].
#[derive(Debug, Clone, Default)]
pub struct Policy {
    roles: roles::Roles,
    table: rule_table::RuleTable,
}

/// The roles and rules that concern a caller. Two callers with the same standing see the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Standing {
    roles: Vec<String>,
    rules: Vec<u8>,
}

/// A policy that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPolicy {
    #[error(transparent)]
    Glob(#[from] BadGlob),
    #[error(transparent)]
    Rule(#[from] BadRule),
}

impl Policy {
    pub fn new(rules: &PolicyRules) -> Result<Self, BadPolicy> {
        Ok(Self {
            roles: roles::Roles::new(&rules.roles, rules.otherwise.as_ref())?,
            table: rule_table::RuleTable::new(&rules.rules)?,
        })
    }

    /// True if every caller may do everything.
    pub fn is_open(&self) -> bool {
        self.roles.is_open() && self.table.is_open()
    }

    /// True if there are rules, or calls are not allowed without one.
    pub fn has_rules(&self) -> bool {
        !self.table.is_open()
    }

    /// True if the caller may see errors, paths, sessions and metrics. Without roles every caller
    /// may. The local caller always may: where callers are not authenticated, the operator cannot
    /// be told from other programs of this machine.
    pub fn may_operate(&self, caller: &Caller) -> bool {
        self.roles.is_open() || Caller::is_local(caller) || self.roles.may_operate(caller)
    }

    /// True if a role gives the caller the right to operate. Without roles no caller has it, so
    /// that callers cannot see each other's data.
    pub fn is_operator(&self, caller: &Caller) -> bool {
        !self.roles.is_open() && self.roles.may_operate(caller)
    }

    /// The scopes of which any one would give a role to a caller that has none; empty if it has
    /// one, or needs none.
    pub fn helpful_scopes(&self, caller: &Caller) -> Vec<String> {
        self.roles.helpful_scopes(caller)
    }

    /// True if a caller could be allowed to use an item that is not listed here.
    pub(crate) fn admits_item(&self, caller: &Caller, target: &Target<'_>) -> bool {
        self.roles.admit(caller, target.subject, &[target.own, target.former]) && {
            let asker = Asker::of_caller(caller, &self.roles);
            self.could_allow(&asker, target, None)
        }
    }

    /// True if a caller could be allowed to read a resource, listed or not.
    pub(crate) fn admits_resource(&self, caller: &Caller, server: &ServerName, uri: &str) -> bool {
        self.is_open()
            || self.admits_item(caller, &Target::unlisted(server, uri, &subject(server.as_ref(), uri)))
    }

    /// Permission for requests about a listed item other than its use, such as completions.
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
        let admitted = self.is_open() || {
            let asker = Asker::of_caller(caller, &self.roles);
            self.allows_unlisted(
                &asker,
                &Target::unlisted(server.name(), what, &subject(server.name().as_ref(), what)),
            )
        };
        admitted.then(|| Permit::new(server))
    }

    /// Permission for requests about something with this subject that was allowed before, such as
    /// the task of a tool.
    pub(crate) fn permit_known<'a>(
        &self,
        caller: &Caller,
        server: &'a Server,
        subject: &str,
    ) -> Option<Permit<'a>> {
        let target = Target {
            server: server.name().as_ref(),
            subject,
            own: subject,
            former: subject,
            traits: Traits::Unknown,
        };
        (self.is_open() || self.admits_item(caller, &target)).then(|| Permit::new(server))
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

    /// True if something of a server whose items are unknown could be allowed.
    fn may_reach(&self, caller: &Caller, server: &str) -> bool {
        self.roles.could_reach(caller, server)
            && self.table.could_reach(server, &Asker::of_caller(caller, &self.roles))
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

    /// True if some call of a listed item could be allowed.
    pub(crate) fn admits(&self, caller: &Caller, route: &Route) -> bool {
        self.is_open() || self.admits_asker(&Asker::of_caller(caller, &self.roles), route)
    }

    /// As [`Self::admits`], if the client may be known.
    pub(crate) fn admits_asker(&self, asker: &Asker<'_>, route: &Route) -> bool {
        self.is_open()
            || self.roles.admit(asker.caller, route.subject(), &route.further_names())
                && self.could_allow(asker, &route.target(), Some(route))
    }

    /// True if a tool of a server that never connected could be allowed, by its public name.
    pub(crate) fn admits_name(&self, caller: &Caller, server: &ServerName, name: &str, own: &str) -> bool {
        let target =
            Target { server: server.as_ref(), subject: name, own, former: name, traits: Traits::Unknown };
        self.is_open() || self.admits_item(caller, &target)
    }

    /// The caller of a request, as rules see it.
    pub(crate) fn asker<'a>(&'a self, call: &'a Call) -> Asker<'a> {
        if self.table.reads_client {
            Asker::of_call(call, &self.roles)
        } else {
            Asker::of_caller(&call.caller, &self.roles)
        }
    }

    pub(crate) fn standing(&self, asker: &Asker<'_>) -> Standing {
        Standing { roles: self.roles.names(asker.caller), rules: self.table.standing(asker) }
    }

    fn could_allow(&self, asker: &Asker<'_>, target: &Target<'_>, route: Option<&Route>) -> bool {
        self.table.is_open()
            || self.with_rules(target, route, |rules| self.table.could_allow(rules, target, asker))
    }

    fn allows_unlisted(&self, asker: &Asker<'_>, target: &Target<'_>) -> bool {
        self.roles.admit(asker.caller, target.subject, &[target.own])
            && (self.table.is_open() || {
                let rules = self.table.applicable(target);
                self.table.decide(&rules, target, asker, None).effect == Effect::Allow
            })
    }

    /// Calls `use_them` with the rules that concern a target. A route keeps them.
    fn with_rules<T>(
        &self,
        target: &Target<'_>,
        route: Option<&Route>,
        use_them: impl FnOnce(&Applicable) -> T,
    ) -> T {
        let kept = route.map(|route| route.applicable(|| self.table.applicable(target)));
        match kept.filter(|kept| self.table.has(kept)) {
            Some(kept) => use_them(kept),
            None => use_them(&self.table.applicable(target)),
        }
    }
}

impl Standing {
    /// A text that differs for each standing, to which cursors are bound.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.roles.iter().map(String::as_bytes).chain([self.rules.as_slice()])
    }
}

/// The subject of the item that `server` calls `what`.
pub(crate) fn subject(server: &str, what: &str) -> String {
    format!("{server}_{what}")
}
