//! Records changes of logins in the audit trail.

use std::sync::{Arc, OnceLock};
use trunkline_gateway::audit::Trail;
use trunkline_oauth::{AccountKey, LoginEvent, LoginObserver, StoredLogin};
use trunkline_protocol::{Caller, ServerName};

/// The trail to which changes of logins are written, once it is open; clones share it.
#[derive(Clone, Default)]
pub(crate) struct LoginRecords(Arc<OnceLock<Trail>>);

impl LoginRecords {
    pub(crate) fn write_to(&self, trail: Trail) {
        // A gateway opens one trail.
        self.0.set(trail).ok();
    }

    /// Records the changes of logins at this server.
    pub(super) fn observer(&self, server: &ServerName) -> LoginObserver {
        let (records, server) = (self.clone(), server.clone());
        Arc::new(move |key: &AccountKey, event: LoginEvent<'_>| {
            let Some(trail) = records.0.get() else { return };
            let (what, detail) = described(&server, event);
            let ourselves = Caller::ourselves();
            // Without a principal it is the gateway's own login, which all callers use.
            trail.event(what, key.principal.as_deref().unwrap_or(&ourselves.id), &detail);
        })
    }
}

/// The word and the text of a record.
fn described(server: &ServerName, event: LoginEvent<'_>) -> (&'static str, String) {
    let tokens = |login: &StoredLogin| {
        let scopes = login.tokens.as_ref().map(|tokens| tokens.scopes.join(" ")).unwrap_or_default();
        format!("server `{server}`, issuer {}, scopes `{scopes}`", login.issuer.issuer)
    };
    match event {
        LoginEvent::SignedIn { login } => ("login", tokens(login)),
        LoginEvent::Renewed { login } => ("login-renewed", tokens(login)),
        LoginEvent::Expired { said } => ("login-expired", format!("server `{server}`: {said}")),
        LoginEvent::SignedOut { revoked: true } => ("logout", format!("server `{server}`, tokens revoked")),
        LoginEvent::SignedOut { revoked: false } => {
            ("logout", format!("server `{server}`, tokens not revoked"))
        }
    }
}
