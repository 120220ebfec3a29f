//! The identity of a caller.

use crate::Principal;
use std::collections::BTreeMap;

/// A verified caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub principal: Principal,
    pub roles: Vec<String>,
    pub scopes: Vec<String>,
    /// The claims of the token that [`TokenOptions::claims`](crate::TokenOptions::claims) names.
    pub claims: BTreeMap<String, Vec<String>>,
}

impl Identity {
    /// The caller when authentication is off.
    pub fn anonymous() -> Self {
        Self {
            principal: Principal::Anonymous,
            roles: Vec::new(),
            scopes: Vec::new(),
            claims: BTreeMap::new(),
        }
    }

    /// The owner of a verified client certificate.
    pub fn certificate(subject: &str) -> Self {
        Self { principal: Principal::certificate(subject), ..Self::anonymous() }
    }

    /// The scopes of `needed` that this caller lacks.
    pub fn missing_scopes(&self, needed: &[String]) -> Vec<String> {
        needed.iter().filter(|scope| !self.scopes.contains(scope)).cloned().collect()
    }
}
