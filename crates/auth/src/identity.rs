//! The identity of a caller.

/// A verified caller.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    pub id: String,
    pub roles: Vec<String>,
    pub scopes: Vec<String>,
}

impl Identity {
    /// The caller when authentication is off.
    pub fn anonymous() -> Self {
        Self { id: "anonymous".to_owned(), ..Self::default() }
    }

    /// The scopes of `needed` that this caller lacks.
    pub fn missing_scopes<'a>(&self, needed: &[&'a str]) -> Vec<&'a str> {
        needed.iter().filter(|scope| !self.scopes.iter().any(|own| own == *scope)).copied().collect()
    }
}
