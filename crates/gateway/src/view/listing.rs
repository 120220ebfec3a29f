//! Listing: the rendered pages of a list, for all callers of one standing.

use super::{Cursors, View, cursor::Bound};
use crate::{
    catalog::{Route, Server},
    disclosure::{self, Disclosure},
    policy::{Policy, Standing},
    rewrite,
    upstream::Kind,
};
use ring::digest::{Context, SHA256};
use std::{sync::Arc, time::Duration};
use trunkline_protocol::{Caller, Object, Raw, method};

/// Key in `_meta` of a list: the servers that have not connected yet, so that their items are
/// missing.
const MISSING: &str = "trunkline/missing";
/// Key in `_meta` of a list: those of the missing servers whose last attempt to connect failed.
const FAILED: &str = "trunkline/failed";

/// The settings of lists.
#[derive(Debug, Clone)]
pub(crate) struct ListOptions {
    pub(crate) page_size: usize,
    pub(crate) ttl: Duration,
    pub(crate) cursors: Arc<Cursors>,
}

/// A list, whole.
#[derive(Debug)]
pub(crate) struct Listing {
    /// The items without `trunkline/stale` marks; compared to detect changes of the list.
    items: Vec<Raw>,
    pages: Vec<Raw>,
    bound: Bound,
    /// False while a missing server is still starting: that it fails changes the list, and no
    /// snapshot.
    pub(super) settled: bool,
}

/// Makes one listing.
pub(super) struct Lister<'a> {
    pub(super) view: &'a View,
    pub(super) kind: Kind,
    pub(super) policy: &'a Policy,
    pub(super) caller: &'a Caller,
    pub(super) standing: &'a Standing,
    pub(super) options: &'a ListOptions,
}

impl Listing {
    pub(crate) fn first(&self) -> Raw {
        self.pages[0].clone()
    }

    /// The page of a cursor; `None` if the cursor is not from this list.
    pub(crate) fn page(&self, cursors: &Cursors, cursor: &str) -> Option<Raw> {
        let page = cursors.open(&self.bound, cursor)?;
        self.pages.get(page).cloned()
    }

    /// True if both have the same items; marks and missing servers are ignored.
    pub(crate) fn shows_same(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.items == other.items
    }
}

/// Names the missing servers, and those of them that failed.
fn meta(missing: &[&Server]) -> Option<Raw> {
    if missing.is_empty() {
        return None;
    }
    let names = |servers: Vec<&&Server>| {
        let names: Vec<&str> = servers.iter().map(|server| server.name().as_ref()).collect();
        serde_json::json!(names).into()
    };
    let mut meta = Object::new();
    meta.set(MISSING, names(missing.iter().collect()));
    let failed: Vec<&&Server> = missing.iter().filter(|server| !server.is_awaited()).collect();
    if !failed.is_empty() {
        meta.set(FAILED, names(failed));
    }
    Some(meta.to_raw())
}

impl Lister<'_> {
    pub(super) fn list(&self, visible: &[&Route]) -> Listing {
        let disclosure = if self.kind == Kind::Tools { self.view.disclosure } else { Disclosure::All };
        let listed = disclosure::listed(disclosure, visible);
        let items: Vec<Raw> = listed.iter().map(|(item, _)| item.clone()).collect();
        let bound = Bound::new(&self.view.name, self.kind, self.standing, &self.digest(&items));
        let size = self.options.page_size.max(1);
        let missing = self.missing();
        let settled = !missing.iter().any(|server| server.is_awaited());
        let meta = meta(&missing);
        let chunks: Vec<&[(Raw, bool)]> =
            if listed.is_empty() { vec![&[]] } else { listed.chunks(size).collect() };
        let last = chunks.len() - 1;
        let pages = chunks.iter().enumerate().map(|(page, items)| {
            let next = (page < last).then(|| self.options.cursors.seal(&bound, page + 1));
            self.page(items, next, meta.as_ref())
        });
        Listing { pages: pages.collect(), items, bound, settled }
    }

    fn page(&self, items: &[(Raw, bool)], next: Option<String>, meta: Option<&Raw>) -> Raw {
        let marked = |(item, is_stale): &(Raw, bool)| {
            if *is_stale { rewrite::mark_stale(item) } else { item.clone() }
        };
        let items: Vec<Raw> = items.iter().map(marked).collect();
        let mut ours = Object::new();
        ours.set(member(self.kind), Raw::array(&items));
        if let Some(next) = next {
            ours.set("nextCursor", Raw::string(&next));
        }
        let ttl = u64::try_from(self.options.ttl.as_millis()).unwrap_or(u64::MAX);
        ours.set("ttlMs", serde_json::Value::from(ttl).into());
        ours.set("cacheScope", Raw::string(self.view.cache_scope(self.policy)));
        if let Some(meta) = meta {
            ours.set("_meta", meta.clone());
        }
        match self.beside() {
            Some(theirs) => placed(ours, theirs).to_raw(),
            None => ours.to_raw(),
        }
    }

    /// The members of the server's own pages, if the view shows one server unchanged. In a list of
    /// several servers they would describe only a part.
    fn beside(&self) -> Option<&Object> {
        let offer = self.view.servers.first().filter(|_| self.view.transparent)?.offer()?;
        Some(&offer.beside[self.kind as usize])
    }

    /// The servers that were never heard, as far as the caller may know of them.
    fn missing(&self) -> Vec<&Server> {
        let unheard = self.view.servers.iter().filter(|server| server.offer().is_none());
        unheard
            .filter(|server| self.policy.permit_to(self.caller, server, method::DISCOVER).is_some())
            .map(AsRef::as_ref)
            .collect()
    }

    /// The digest that cursors are bound to; empty for a list of one page, which has none.
    fn digest(&self, items: &[Raw]) -> Vec<u8> {
        if items.len() <= self.options.page_size {
            return Vec::new();
        }
        let mut context = Context::new(&SHA256);
        for item in items {
            context.update(&(item.as_bytes().len() as u64).to_le_bytes());
            context.update(item.as_bytes());
        }
        context.finish().as_ref().to_vec()
    }
}

/// Our members in the places of the server's members of the same name, with its other members.
fn placed(mut ours: Object, theirs: &Object) -> Object {
    if theirs.get("resultType").is_some() {
        ours.set("resultType", Raw::string("complete"));
    }
    let mut all = Object::new();
    for (name, value) in theirs.iter() {
        match ours.remove(name) {
            Some(own) => all.set(name.to_owned(), own),
            // Null is the place of a member that each hop writes itself, and this page has none.
            None if value.is_null() && name == "nextCursor" => {}
            None => all.set(name.to_owned(), value.clone()),
        }
    }
    for (name, value) in ours.iter() {
        all.set(name.to_owned(), value.clone());
    }
    all
}

/// The member of a list's result that holds the items.
pub(crate) fn member(kind: Kind) -> &'static str {
    match kind {
        Kind::Tools => "tools",
        Kind::Prompts => "prompts",
        Kind::Resources => "resources",
        Kind::Templates => "resourceTemplates",
    }
}
