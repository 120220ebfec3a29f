//! Route: maps a public name to the server and the server's own name.

use super::{ItemAccess, ServerFilters, checker::Checker, item::Item};
use crate::{
    explain::Link,
    gateway::Source,
    policy::{self, Applicable, Filter, Key, Policy, Target, Traits},
    rewrite::UriMap,
    upstream::{Kind, Offer},
    view::Share,
};
use std::{
    fmt,
    sync::{Arc, OnceLock},
};
use trunkline_protocol::{
    Call, Raw, ServerName,
    message::{DiscoverResult, ServerCapabilities, TASKS_EXTENSION},
};

/// A server in a view. Its source is accessible only with a permit.
pub struct Server {
    name: ServerName,
    source: Arc<dyn Source>,
    offer: Option<Arc<Offer>>,
    capabilities: ServerCapabilities,
    makes_tasks: bool,
    /// The URIs of this server that are rewritten in this view.
    uris: UriMap,
    rules: Arc<ServerFilters>,
    /// The view's filter for resources.
    view: Arc<Filter>,
}

/// One item that callers can request.
#[derive(Debug)]
pub struct Route {
    /// Its name in this view.
    name: Box<str>,
    subject: Box<str>,
    /// The subject before it was cut or renamed.
    former: Option<Box<str>>,
    /// The server's name for it, as JSON, if that differs.
    inner: Option<Raw>,
    server: Arc<Server>,
    item: Arc<Item>,
    listing: Raw,
    /// The policy rules that concern it, found with the first call.
    applicable: OnceLock<Applicable>,
}

impl Server {
    pub(crate) fn new(share: &Share, view: &Arc<Filter>, uris: UriMap) -> Self {
        let (source, offer) = (Arc::clone(&share.source), share.offer.clone());
        let introduction = offer.as_ref().map(|offer| &offer.introduction);
        let discovered = introduction.and_then(|raw| raw.decode::<DiscoverResult>().ok());
        let capabilities = discovered.map(|discovered| discovered.capabilities).unwrap_or_default();
        let makes_tasks = capabilities.tasks.is_some() || capabilities.extension(TASKS_EXTENSION).is_some();
        Self {
            name: source.name().clone(),
            source,
            offer,
            capabilities,
            makes_tasks,
            uris,
            rules: Arc::clone(&share.filters),
            view: Arc::clone(view),
        }
    }

    pub fn name(&self) -> &ServerName {
        &self.name
    }

    /// The server's offer; `None` if it was never read.
    pub fn offer(&self) -> Option<&Arc<Offer>> {
        self.offer.as_ref()
    }

    pub(crate) fn source(&self, _key: &Key) -> &Arc<dyn Source> {
        &self.source
    }

    /// True if its offer is still expected: none was read, and no attempt to connect failed.
    pub(crate) fn is_awaited(&self) -> bool {
        self.offer.is_none() && !self.source.has_failed()
    }

    /// Most bytes of text in a result.
    pub(crate) fn result_bytes(&self) -> Option<usize> {
        self.rules.result_bytes()
    }

    /// The rules for its items, whether it lists them or not.
    pub(crate) fn access(&self, policy: &Arc<Policy>) -> ItemAccess {
        ItemAccess::of(&self.rules, &self.name, policy)
    }

    /// The stages that a call to it would pass now.
    pub(crate) fn links(&self, call: &Call) -> Vec<Link> {
        self.source.links(call)
    }

    /// Requests the server's offer; starts a server that is started lazily.
    pub(crate) fn wake(&self) {
        self.source.wake();
    }

    /// True if callers see it with identities of their own.
    pub(crate) fn is_personal(&self) -> bool {
        self.source.is_personal()
    }

    /// The tool that signs the caller in, while it has no login for this server.
    pub(crate) fn sign_in_tool(&self) -> Option<&'static str> {
        self.source.sign_in_tool()
    }

    /// True if both have the same source, even if their offers differ.
    pub(crate) fn is_same_source(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.source, &other.source)
    }

    /// True if calls may be sent by this snapshot: the definitions need not be accepted, or they
    /// are those that the server has now, as far as it told.
    pub(crate) fn is_verified(&self) -> bool {
        if !self.rules.is_enforced() {
            return true;
        }
        let same = match (&self.offer, &self.source.offer()) {
            (Some(one), Some(now)) => Arc::ptr_eq(one, now),
            _ => false,
        };
        same && !self.is_stale() && self.source.is_settled()
    }

    /// The instructions, unless they differ from the accepted ones and must not.
    pub(crate) fn withholds_instructions(&self) -> bool {
        let drift = self.offer.as_ref().and_then(|offer| self.rules.instructions_drift(offer));
        self.rules.is_enforced() && drift.is_some()
    }

    pub(crate) fn capabilities(&self) -> &ServerCapabilities {
        &self.capabilities
    }

    pub(crate) fn makes_tasks(&self) -> bool {
        self.makes_tasks
    }

    pub(crate) fn uris(&self) -> &UriMap {
        &self.uris
    }

    /// True if the rules do not hide this resource, listed or not. The URI is the server's own.
    pub(crate) fn offers_uri(&self, uri: &str) -> bool {
        self.rules.of(Kind::Resources).offers(uri)
            && self.view.admits(&policy::subject(self.name.as_ref(), uri))
    }

    pub(crate) fn is_stale(&self) -> bool {
        self.offer.as_ref().is_some_and(|offer| offer.stale)
    }
}

impl Route {
    /// `name` is the public name in the view, `listing` the item with that name.
    pub(crate) fn new(
        name: &str,
        subject: &str,
        (server, item): (&Arc<Server>, &Arc<Item>),
        listing: Raw,
    ) -> Self {
        let whole = policy::subject(server.name.as_ref(), &item.inner);
        let former = (whole != subject).then(|| whole.into());
        Self {
            inner: (name != item.inner.as_ref()).then(|| Raw::string(&item.inner)),
            name: name.into(),
            subject: subject.into(),
            former,
            server: Arc::clone(server),
            item: Arc::clone(item),
            listing,
            applicable: OnceLock::new(),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// The name that policy rules match.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Further names that deny rules match: the server's own, and the subject before it was cut
    /// or renamed.
    pub(crate) fn further_names(&self) -> [&str; 2] {
        [&self.item.inner, self.former.as_deref().unwrap_or(&self.item.inner)]
    }

    /// The item, as policy rules match it.
    pub(crate) fn target(&self) -> Target<'_> {
        let [own, former] = self.further_names();
        Target {
            server: self.server.name.as_ref(),
            subject: &self.subject,
            own,
            former,
            traits: self.item.traits.as_ref().map_or(Traits::NotATool, Traits::Tool),
        }
    }

    /// The policy rules that concern it, found by `find` the first time.
    pub(crate) fn applicable(&self, find: impl FnOnce() -> Applicable) -> &Applicable {
        self.applicable.get_or_init(find)
    }

    pub(crate) fn inner(&self) -> &str {
        &self.item.inner
    }

    pub(crate) fn inner_raw(&self) -> Option<&Raw> {
        self.inner.as_ref()
    }

    pub(crate) fn checker(&self) -> Option<&Arc<Checker>> {
        self.item.checker.as_ref()
    }

    pub(crate) fn item(&self) -> &Item {
        &self.item
    }

    pub(crate) fn listing(&self) -> &Raw {
        &self.listing
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.name)
            .field("stale", &self.is_stale())
            .finish_non_exhaustive()
    }
}
