//! Servers that each caller sees with an identity of its own: a login, a header, or an exchanged
//! token.
//!
//! Such a server is a template. It opens no session itself; each identity gets an upstream with
//! its own sessions, lists and circuit breaker, so nothing of one identity can reach another. The
//! limits of concurrency and rate belong to the server, so all identities share them.

use super::{Upstream, core::Core, status::Status};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Weak},
};
use trunkline_protocol::{Caller, Connect};

/// Opens connections to one server with the identity of a caller.
pub trait ConnectAs: Send + Sync {
    /// Everything about the caller that decides what the server answers to it.
    fn identity(&self, caller: &Caller) -> Identity;

    /// Opens sessions with this caller's identity only.
    fn connect_as(&self, caller: &Caller) -> Arc<dyn Connect>;
}

/// The identity under which a server sees callers. It may contain secrets and is not shown.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Identity(Box<[Box<str>]>);

/// The relation of an upstream to its callers.
pub(super) enum Role {
    /// All callers see the same server.
    Shared,
    /// Each identity gets an upstream of its own.
    Template(Template),
    /// The upstream of one identity, which belongs to this principal.
    Personal(Arc<str>),
}

/// The upstreams of the identities. The catalogs of the callers own them.
pub(super) struct Template {
    connect: Arc<dyn ConnectAs>,
    known: Mutex<HashMap<Identity, Weak<Upstream>>>,
}

impl Identity {
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        Self(parts.into_iter().map(Into::into).collect())
    }
}

impl Template {
    pub(super) fn new(connect: Arc<dyn ConnectAs>) -> Self {
        Self { connect, known: Mutex::default() }
    }

    /// The upstream of the caller's identity, started if there is none.
    fn of(&self, core: &Core, caller: &Caller) -> Arc<Upstream> {
        let identity = self.connect.identity(caller);
        let mut known = self.known.lock();
        if let Some(upstream) = known.get(&identity).and_then(Weak::upgrade) {
            return upstream;
        }
        known.retain(|_, upstream| upstream.strong_count() > 0);
        let own = core.sibling(self.connect.connect_as(caller));
        let upstream = Upstream::with_role(own, Role::Personal(caller.id.as_str().into()));
        if core.pool().halted {
            upstream.stay_halted();
        }
        upstream.start();
        known.insert(identity, Arc::downgrade(&upstream));
        upstream
    }

    fn all(&self) -> Vec<Arc<Upstream>> {
        self.known.lock().values().filter_map(Weak::upgrade).collect()
    }
}

impl Upstream {
    /// A server that each caller sees with its own identity.
    pub fn personal(
        name: trunkline_protocol::ServerName,
        connect: Arc<dyn ConnectAs>,
        options: super::UpstreamOptions,
    ) -> Arc<Self> {
        let options = super::UpstreamOptions { start: super::Start::WhenNeeded, ..options };
        let core = Core::new(name, Arc::new(super::in_process::NoSession), options);
        Self::with_role(core, Role::Template(Template::new(connect)))
    }

    /// The identity of a caller; `None` if all callers see the same server.
    pub fn identity(&self, caller: &Caller) -> Option<Identity> {
        match &self.role {
            Role::Template(template) => Some(template.connect.identity(caller)),
            Role::Shared | Role::Personal(_) => None,
        }
    }

    /// The upstream of a caller's identity; `None` if all callers see the same server.
    pub fn as_seen_by(&self, caller: &Caller) -> Option<Arc<Self>> {
        match &self.role {
            Role::Template(template) => Some(template.of(&self.core, caller)),
            Role::Shared | Role::Personal(_) => None,
        }
    }

    /// True if callers see this server with identities of their own.
    pub fn is_personal(&self) -> bool {
        !matches!(self.role, Role::Shared)
    }

    /// The tool that signs the caller in, while the server is known only by that.
    pub fn sign_in_tool(&self) -> Option<&'static str> {
        self.core.everyones.load().as_ref()?.session.sign_in_tool()
    }

    pub(super) fn is_template(&self) -> bool {
        matches!(self.role, Role::Template(_))
    }

    /// The upstreams of all identities.
    pub fn identities(&self) -> Vec<Arc<Self>> {
        match &self.role {
            Role::Template(template) => template.all(),
            Role::Shared | Role::Personal(_) => Vec::new(),
        }
    }

    pub(super) fn own_status(&self) -> Status {
        let mut status = Status::of(&self.core);
        if let Role::Personal(principal) = &self.role {
            for session in &mut status.sessions {
                session.principal = Some(principal.to_string());
            }
        }
        status
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}
