//! Unknown methods (extensions), and notifications of clients.

use super::{Inner, faults};
use crate::{
    catalog::{Catalog, Server},
    view::View,
};
use trunkline_protocol::{Call, Notify, Raw, Reply, method};

/// Methods about a legacy session. The session layer answers them; they are not passed to servers.
const TRANSLATED: [&str; 4] =
    [method::INITIALIZE, method::SET_LEVEL, method::RESOURCES_SUBSCRIBE, method::RESOURCES_UNSUBSCRIBE];

impl Inner {
    /// A view of one server passes every method on. In other views a method goes to the one server
    /// that declares its extension.
    pub(super) fn extension(catalog: &Catalog, view: &View, call: Call) -> Reply {
        if TRANSLATED.contains(&call.method.as_ref()) {
            return Reply::ready(Err(faults::no_method(&call.method)));
        }
        let alone = view.servers.len() == 1;
        let mut able = view
            .servers
            .iter()
            .filter(|server| alone || declares(server, &call.method))
            .filter_map(|server| catalog.policy.permit_to(&call.caller, server, &call.method));
        match (able.next(), able.next()) {
            (Some(permit), None) => permit.call(call),
            _ => Reply::ready(Err(faults::no_method(&call.method))),
        }
    }

    /// Forwards a client's notification to the servers that the caller may use. If there are
    /// several, a notification of an extension goes only to those that declare the extension.
    /// Each upstream finds its own sessions of the caller. `notifications/cancelled` is not
    /// forwarded: request ids are valid for one hop only, and a call is cancelled by dropping its
    /// reply.
    pub(super) fn pass_on(&self, notice: &Notify) {
        if notice.notification.method == method::CANCELLED {
            return;
        }
        let catalog = self.now.load();
        let name = notice.notification.method.as_ref();
        let core = matches!(name, method::ROOTS_CHANGED | method::PROGRESS | method::TASK_STATUS);
        for (view, server) in
            catalog.alone.iter().flat_map(|view| view.servers.iter().map(move |server| (view, server)))
        {
            if !core && catalog.alone.len() > 1 && !declares(server, name) {
                continue;
            }
            if let Some(permit) = catalog.policy.permit_contact(&notice.caller, view, server) {
                permit.notify(notice.clone());
            }
        }
    }
}

/// True if the server declares the extension of a method: `x.org/thing` owns `thing/…` and
/// `x.org/thing/…`.
fn declares(server: &Server, name: &str) -> bool {
    let capabilities = server.capabilities();
    let declared = [&capabilities.extensions, &capabilities.experimental];
    declared.into_iter().flatten().filter_map(Raw::object).any(|extensions| {
        extensions.iter().any(|(extension, _)| belongs(name.trim_start_matches("notifications/"), extension))
    })
}

fn belongs(name: &str, extension: &str) -> bool {
    let begins =
        |with: &str| name.strip_prefix(with).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let last = extension.rsplit('/').next().unwrap_or(extension);
    begins(extension) || (!last.is_empty() && begins(last))
}

#[cfg(test)]
mod tests {
    use super::belongs;

    #[test]
    fn a_method_belongs_to_the_extension_it_is_named_after() {
        assert!(belongs("skills/list", "io.x/skills") && belongs("io.x/skills/get", "io.x/skills"));
        assert!(belongs("skills", "skills") && !belongs("skillset/list", "io.x/skills"));
        assert!(!belongs("tools/x", "io.x/skills") && !belongs("a", "io.x/"));
    }
}
