//! Permissions to see and use a tool, prompt or resource.

use trunkline_protocol::Caller;

/// Scopes and roles that a caller needs; by default none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions {
    /// The caller needs all of these scopes.
    pub scopes: Vec<String>,
    /// The caller needs one of these roles, unless the list is empty.
    pub roles: Vec<String>,
}

impl Permissions {
    /// True if every caller is allowed.
    pub fn is_open(&self) -> bool {
        self.scopes.is_empty() && self.roles.is_empty()
    }

    pub fn allow(&self, caller: &Caller) -> bool {
        let scopes = self.scopes.iter().all(|scope| caller.scopes.contains(scope));
        let roles = self.roles.is_empty() || self.roles.iter().any(|role| caller.roles.contains(role));
        scopes && roles
    }
}
