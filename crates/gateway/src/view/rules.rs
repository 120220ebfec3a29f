//! What the configuration says about views.

use crate::policy::FilterRules;
use trunkline_protocol::ServerName;

/// A part of what is offered, under an address of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ViewRules {
    /// `None`: all servers. They appear in the order in which the servers are configured.
    pub servers: Option<Vec<ServerName>>,
    /// Globs over public names, `<server>_<tool>`, whatever the naming.
    pub tools: FilterRules,
    pub prompts: FilterRules,
    /// Globs over `<server>_<uri>`.
    pub resources: FilterRules,
    pub naming: Naming,
    /// What the view is for; clients see it before what the servers say.
    pub instructions: Option<String>,
}

/// How tools and prompts are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Naming {
    /// `<server>_<tool>`.
    #[default]
    Prefixed,
    /// As their server calls them. Where a name is taken already, the later server's thing gets its prefixed name.
    Bare,
}
