//! Changes of logins, for the records of a gateway.

use crate::{AccountKey, StoredLogin};
use std::sync::Arc;

/// A change of a login.
#[derive(Debug, Clone, Copy)]
pub enum LoginEvent<'a> {
    /// Tokens were obtained: a user signed in, or the client's own credentials were used.
    SignedIn { login: &'a StoredLogin },
    /// The tokens were renewed unattended.
    Renewed { login: &'a StoredLogin },
    /// The authorization server refused to renew the tokens, so they were dropped.
    Expired { said: &'a str },
    /// The tokens were forgotten, and revoked if the authorization server could do that.
    SignedOut { revoked: bool },
}

/// Told every change of a login. It is called with locks held, so it must not wait.
pub type LoginObserver = Arc<dyn Fn(&AccountKey, LoginEvent<'_>) + Send + Sync>;
