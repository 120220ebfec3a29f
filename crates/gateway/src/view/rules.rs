//! The configured rules of views.

use crate::{disclosure::Disclosure, policy::FilterRules};
use trunkline_protocol::ServerName;

/// A part of the catalog with its own path.
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
    /// Instructions for clients; they precede those of the servers.
    pub instructions: Option<String>,
    pub disclosure: Disclosure,
    /// Tokens that the listed tools may cost, by our estimate.
    pub budget: Option<u64>,
    /// Most bytes of text in a result. `None`: no limit.
    pub result_bytes: Option<usize>,
}

/// The form of tool and prompt names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Naming {
    /// `<server>_<tool>`.
    #[default]
    Prefixed,
    /// The server's own names. If two servers share one, the later server's item gets its prefixed
    /// name.
    Bare,
}
