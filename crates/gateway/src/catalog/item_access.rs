//! The rules for the items of one server, for a caller that reaches it without the gateway.

use super::{BadRules, Rules, ServerFilters, item::tool_traits};
use crate::{
    policy::{self, Access, Policy, Target, ToolTraits, Traits},
    upstream::Kind,
};
use std::sync::Arc;
use trunkline_protocol::{Call, Caller, PublicName, Raw, ServerName, ToolName};

/// Tells which items of a server a caller may use, by the same rules as the gateway.
#[derive(Debug)]
pub struct ItemAccess {
    filters: Arc<ServerFilters>,
    server: ServerName,
    policy: Arc<Policy>,
}

impl ItemAccess {
    pub fn new(rules: &Rules, server: &ServerName) -> Result<Self, BadRules> {
        let filters = Arc::new(ServerFilters::of_server(rules, server)?);
        Ok(Self { filters, server: server.clone(), policy: Arc::new(Policy::new(&rules.policy)?) })
    }

    pub(super) fn of(filters: &Arc<ServerFilters>, server: &ServerName, policy: &Arc<Policy>) -> Self {
        Self { filters: Arc::clone(filters), server: server.clone(), policy: Arc::clone(policy) }
    }

    /// True if the configuration offers a tool of this name, if the server has it.
    pub(crate) fn offers(&self, own: &str) -> bool {
        self.filters.of(Kind::Tools).offers(own)
    }

    /// The server's own name of a tool, by its public name without the server's prefix.
    pub(crate) fn own_name(&self, public: &str) -> String {
        self.filters.of(Kind::Tools).before_renaming(public).unwrap_or(public).to_owned()
    }

    /// Calls `use_it` with a tool as policy rules match it.
    pub(crate) fn with_tool<T>(&self, own: &str, use_it: impl FnOnce(&Target<'_>) -> T) -> T {
        let (traits, subject) = (self.traits(Kind::Tools, own), self.subject(Kind::Tools, own));
        let former = policy::subject(self.server.as_ref(), own);
        use_it(&self.target(traits.as_ref(), (&subject, &former), own))
    }

    /// True if some use of the item could be allowed. It is given by the server's own name or URI.
    pub fn allows(&self, caller: &Caller, kind: Kind, name: &str) -> bool {
        let filters = self.filters.of(kind);
        filters.offers(name) && {
            let traits = self.traits(kind, name);
            let (subject, former) = (self.subject(kind, name), policy::subject(self.server.as_ref(), name));
            self.policy.admits_item(caller, &self.target(traits.as_ref(), (&subject, &former), name))
        }
    }

    /// Decides about a call of the item with these arguments. The item must be allowed.
    pub fn judge(&self, call: &Call, kind: Kind, name: &str, arguments: Option<Raw>) -> Access {
        let (traits, subject) = (self.traits(kind, name), self.subject(kind, name));
        let former = policy::subject(self.server.as_ref(), name);
        let target = self.target(traits.as_ref(), (&subject, &former), name);
        self.policy.access(call, (&target, None), || arguments)
    }

    fn traits(&self, kind: Kind, name: &str) -> Option<ToolTraits> {
        let nothing = Raw::empty_object();
        let about = || self.filters.of(kind).about(name);
        (kind == Kind::Tools).then(|| tool_traits(&nothing, &self.filters.rules, &about()))
    }

    /// The name that rules match in the gateway.
    fn subject(&self, kind: Kind, name: &str) -> String {
        let own = self.filters.of(kind).about(name).rename.unwrap_or_else(|| name.to_owned());
        match kind {
            Kind::Tools | Kind::Prompts => {
                PublicName::join(&self.server, &ToolName::from(own.as_str())).as_str().to_owned()
            }
            Kind::Resources | Kind::Templates => policy::subject(self.server.as_ref(), name),
        }
    }

    fn target<'a>(
        &'a self,
        traits: Option<&'a ToolTraits>,
        (subject, former): (&'a str, &'a str),
        name: &'a str,
    ) -> Target<'a> {
        Target {
            server: self.server.as_ref(),
            subject,
            own: name,
            former,
            traits: traits.map_or(Traits::NotATool, Traits::Tool),
        }
    }
}
