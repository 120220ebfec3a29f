//! Asker: a caller, its roles, and the name of its client.

use super::roles::Roles;
use std::{borrow::Cow, time::SystemTime};
use trunkline_protocol::{Call, Caller, message::meta};

/// A caller, as rules see it.
#[derive(Debug, Clone)]
pub(crate) struct Asker<'a> {
    pub(crate) caller: &'a Caller,
    pub(super) roles: &'a Roles,
    /// The name that the client gives itself, empty if it gives none; `None` if it is unknown
    /// here. Nobody verifies it.
    pub(crate) client: Option<Cow<'a, str>>,
    /// True if all roles, scopes and claims are known. A record of a call has only the id.
    pub(crate) is_whole: bool,
    /// The time of the call; `None`: now.
    pub(crate) at: Option<SystemTime>,
}

impl<'a> Asker<'a> {
    /// A caller whose client is unknown.
    pub(super) fn of_caller(caller: &'a Caller, roles: &'a Roles) -> Self {
        Self { caller, roles, client: None, is_whole: true, at: None }
    }

    /// The caller of a request.
    pub(super) fn of_call(call: &'a Call, roles: &'a Roles) -> Self {
        Self { client: Some(client(call).into()), ..Self::of_caller(&call.caller, roles) }
    }

    /// True if the caller has the role, by its key or token or by the configuration.
    pub(super) fn has_role(&self, role: &str) -> bool {
        self.caller.roles.iter().any(|own| own == role) || self.roles.gives(role, self.caller)
    }
}

fn client(call: &Call) -> String {
    let info = meta::get(call.params.as_ref(), meta::CLIENT_INFO);
    info.and_then(|info| info.member_as("name")).unwrap_or_default()
}
