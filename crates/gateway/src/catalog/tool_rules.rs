//! The rules for the tools of one server, for a caller that reaches it without the gateway.

use super::{BadRules, Rules, ServerFilters};
use crate::{policy::Policy, upstream::Kind};
use trunkline_protocol::{Caller, ServerName};

/// Tells which tools of a server a caller may use, by the same rules as the gateway.
#[derive(Debug)]
pub struct ServerToolRules {
    server: ServerName,
    filters: ServerFilters,
    policy: Policy,
}

impl ServerToolRules {
    pub fn new(rules: &Rules, server: &ServerName) -> Result<Self, BadRules> {
        let filters = rules.servers.get(server).map(ServerFilters::new).transpose()?.unwrap_or_default();
        Ok(Self { server: server.clone(), filters, policy: Policy::new(&rules.policy)? })
    }

    /// True if the caller may use the tool, given by the server's own name for it.
    pub fn allow(&self, caller: &Caller, tool: &str) -> bool {
        self.filters.of(Kind::Tools).offers(tool) && self.policy.allows_tool(caller, &self.server, tool)
    }
}
