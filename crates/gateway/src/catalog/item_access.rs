//! The rules for the items of one server, for a caller that reaches it without the gateway.

use super::{BadRules, Rules, ServerFilters};
use crate::{policy::Policy, upstream::Kind};
use trunkline_protocol::{Caller, ServerName};

/// Tells which items of a server a caller may use, by the same rules as the gateway.
#[derive(Debug)]
pub struct ItemAccess {
    filters: ServerFilters,
    server: ServerName,
    policy: Policy,
}

impl ItemAccess {
    pub fn new(rules: &Rules, server: &ServerName) -> Result<Self, BadRules> {
        let filters = ServerFilters::of_server(rules, server)?;
        Ok(Self { filters, server: server.clone(), policy: Policy::new(&rules.policy)? })
    }

    /// True if the caller may use the item, given by the server's own name or URI for it.
    pub fn allows(&self, caller: &Caller, kind: Kind, name: &str) -> bool {
        self.filters.of(kind).offers(name) && self.policy.allows_item(caller, &self.server, name)
    }
}
