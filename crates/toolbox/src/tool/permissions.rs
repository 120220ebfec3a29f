//! Who may see and call something.

use trunkline_protocol::Caller;

/// What a caller must have; by default nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions {
    /// All of these scopes.
    pub scopes: Vec<String>,
    /// One of these roles, where there are any.
    pub roles: Vec<String>,
}

impl Permissions {
    /// Whether everybody has what it takes.
    pub fn is_open(&self) -> bool {
        self.scopes.is_empty() && self.roles.is_empty()
    }

    pub fn allow(&self, caller: &Caller) -> bool {
        let scopes = self.scopes.iter().all(|scope| caller.scopes.contains(scope));
        let roles = self.roles.is_empty() || self.roles.iter().any(|role| caller.roles.contains(role));
        scopes && roles
    }
}
