//! The lists of a server: all pages are fetched, and the whole list is cached.

use super::{Client, driver::read};
use crate::{
    cache::{CacheOptions, Fetched, ListCache, ListKey, Listed, Scope, Source},
    era::Ask,
    host::{Abilities, Asked, Host},
    item_filter::{ItemKind, missing as missing_item},
    resilience::OutOfRange,
    server::Carrier,
};
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use std::{collections::HashSet, ops::Deref, sync::Arc};
use trunkline_protocol::{
    Era, Fault, FaultKind, Notification, Object, Outcome, Raw,
    message::{
        BadItem, CacheHints, CacheScope, Prompt, Resource, ResourceTemplate, Tool, header_params,
        next_cursor, read_items,
    },
    method,
};

/// Page limit; a server with more is assumed to have an endless list.
const MAX_PAGES: usize = 1000;
/// Item limit of one list.
const MAX_ITEMS: usize = 100_000;

/// `_meta` key of a gateway's lists: the servers whose items are missing.
const MISSING: &str = "trunkline/missing";
/// `_meta` key of a gateway's lists: those of the missing servers that could not be reached.
const FAILED: &str = "trunkline/failed";

/// Everything of one kind that a server offers.
#[derive(Debug, Clone)]
pub struct Listing<T> {
    pub items: Vec<T>,
    /// Items that could not be parsed or must not be used, with the reason.
    pub bad: Vec<BadItem>,
    /// Servers behind a gateway whose items are not included yet, because they are still starting
    /// or cannot be reached.
    pub missing: Vec<String>,
    /// Those of the missing servers that could not be reached.
    pub failed: Vec<String>,
}

pub(super) struct Lists {
    tools: ListCache<Listing<Tool>, Fault>,
    prompts: ListCache<Listing<Prompt>, Fault>,
    resources: ListCache<Listing<Resource>, Fault>,
    templates: ListCache<Listing<ResourceTemplate>, Fault>,
}

/// Wraps the application's host. It invalidates cached lists before the application gets the
/// list-changed notification, so that the application then reads the new list.
pub(super) struct ListeningHost {
    pub(super) host: Arc<dyn Host>,
    pub(super) lists: Arc<Lists>,
}

impl Host for ListeningHost {
    fn abilities(&self) -> Abilities {
        self.host.abilities()
    }

    fn answer(&self, asked: Asked) -> BoxFuture<'static, Outcome> {
        self.host.answer(asked)
    }

    fn notice(&self, notification: &Notification) {
        self.lists.hear(&notification.method);
        self.host.notice(notification);
    }
}

impl Lists {
    pub(super) fn new(options: CacheOptions) -> Result<Self, OutOfRange> {
        Ok(Self {
            tools: ListCache::new(options)?,
            prompts: ListCache::new(options)?,
            resources: ListCache::new(options)?,
            templates: ListCache::new(options)?,
        })
    }

    fn invalidate_all(&self) {
        self.tools.invalidate_all();
        self.prompts.invalidate_all();
        self.resources.invalidate_all();
        self.templates.invalidate_all();
    }

    /// Invalidates the lists that this notification reports as changed.
    fn hear(&self, name: &str) {
        match name {
            method::TOOLS_CHANGED => self.tools.invalidate_all(),
            method::PROMPTS_CHANGED => self.prompts.invalidate_all(),
            method::RESOURCES_CHANGED => {
                self.resources.invalidate_all();
                self.templates.invalidate_all();
            }
            _ => {}
        }
    }
}

/// A tool of one list; it stays valid when the cache replaces the list.
pub(super) struct KnownTool {
    list: Arc<Listing<Tool>>,
    place: usize,
}

impl KnownTool {
    pub(super) fn find(list: Arc<Listing<Tool>>, name: &str) -> Option<Self> {
        let place = list.items.iter().position(|tool| tool.name == name)?;
        Some(Self { list, place })
    }
}

impl Deref for KnownTool {
    type Target = Tool;

    fn deref(&self) -> &Tool {
        &self.list.items[self.place]
    }
}

impl Client {
    /// All tools. Over modern HTTP, tools with invalid header rules are left out, as the
    /// specification requires.
    pub async fn tools(&self) -> Result<Arc<Listing<Tool>>, Fault> {
        Ok(self.listed_tools().await?.value)
    }

    async fn listed_tools(&self) -> Result<Listed<Listing<Tool>>, Fault> {
        self.needs("tools")?;
        let fetch = || async {
            let mut fetched = self.list::<Tool>(method::TOOLS_LIST, "tools").await?;
            if self.server().era() == Era::Modern && self.server().transport == Carrier::StreamableHttp {
                leave_out_bad_headers(&mut fetched.value);
            }
            Ok(fetched)
        };
        self.0.lists.tools.get_or_fetch(&ListKey::Tools, fetch).await
    }

    /// One tool with its schema (requirement C1). If the cached list does not have it, the list is
    /// read again.
    #[doc(alias = "get_tool_schema")]
    pub async fn tool(&self, name: &str) -> Result<Tool, Fault> {
        self.0.items.allow(ItemKind::Tool, name)?;
        let mut tools = self.listed_tools().await?;
        if tools.source == Source::Cached && find(&tools.value, name).is_none() {
            self.0.lists.tools.invalidate(&ListKey::Tools);
            tools = self.listed_tools().await?;
        }
        find(&tools.value, name).cloned().ok_or_else(|| missing_item(ItemKind::Tool, name))
    }

    pub async fn prompts(&self) -> Result<Arc<Listing<Prompt>>, Fault> {
        self.needs("prompts")?;
        let fetch = || self.list(method::PROMPTS_LIST, "prompts");
        Ok(self.0.lists.prompts.get_or_fetch(&ListKey::Prompts, fetch).await?.value)
    }

    pub async fn resources(&self) -> Result<Arc<Listing<Resource>>, Fault> {
        self.needs("resources")?;
        let fetch = || self.list(method::RESOURCES_LIST, "resources");
        Ok(self.0.lists.resources.get_or_fetch(&ListKey::Resources, fetch).await?.value)
    }

    pub async fn resource_templates(&self) -> Result<Arc<Listing<ResourceTemplate>>, Fault> {
        self.needs("resources")?;
        let fetch = || self.list(method::RESOURCES_TEMPLATES, "resourceTemplates");
        Ok(self.0.lists.templates.get_or_fetch(&ListKey::ResourceTemplates, fetch).await?.value)
    }

    /// Evicts all cached lists, so that the next lookup asks the server.
    pub fn invalidate(&self) {
        self.0.lists.invalidate_all();
    }

    /// Finds a tool in the cached list, without asking the server.
    pub(super) fn known_tool(&self, name: &str) -> Option<KnownTool> {
        KnownTool::find(self.0.lists.tools.get(&ListKey::Tools)?.value, name)
    }

    async fn list<T: DeserializeOwned>(
        &self,
        name: &'static str,
        member: &str,
    ) -> Result<Fetched<Listing<T>>, Fault> {
        let mut listing =
            Listing { items: Vec::new(), bad: Vec::new(), missing: Vec::new(), failed: Vec::new() };
        let mut seen = HashSet::new();
        let mut params = Object::new();
        let mut hints = CacheHints { ttl_ms: u64::MAX, scope: CacheScope::Public };
        for _ in 0..MAX_PAGES {
            let page = self.send(Ask::new(name, params.clone())).await?;
            let mut items: Vec<Raw> =
                read(&page.member(member).unwrap_or_else(|| Raw::from(serde_json::json!([]))), name)?;
            self.0.items.retain(name, &mut items);
            let (items, bad) = read_items(&items);
            listing.items.extend(items);
            listing.bad.extend(bad);
            hints = stricter(hints, CacheHints::of(&page));
            listing.missing.extend(servers(&page, MISSING));
            listing.failed.extend(servers(&page, FAILED));
            if listing.items.len() + listing.bad.len() > MAX_ITEMS {
                return Err(endless(name, &format!("it has more than {MAX_ITEMS} items")));
            }
            let Some(cursor) = next_cursor(&page) else {
                return Ok(self.fetched(listing, &hints));
            };
            if !seen.insert(cursor.clone()) {
                return Err(endless(name, "a `nextCursor` repeats"));
            }
            params.set("cursor", Raw::string(&cursor));
        }
        Err(endless(name, &format!("it has more than {MAX_PAGES} pages")))
    }

    fn fetched<T>(&self, listing: Listing<T>, hints: &CacheHints) -> Fetched<Listing<T>> {
        if !listing.missing.is_empty() {
            // An incomplete list is not worth keeping.
            return Fetched::hinted(listing, Some(0), Scope::Private);
        }
        match self.server().era() {
            Era::Legacy => Fetched::unhinted(listing),
            Era::Modern => {
                let scope = if hints.is_public() { Scope::Public } else { Scope::Private };
                Fetched::hinted(listing, i64::try_from(hints.ttl_ms).ok(), scope)
            }
        }
    }
}

fn find<'a>(tools: &'a Listing<Tool>, name: &str) -> Option<&'a Tool> {
    tools.items.iter().find(|tool| tool.name == name)
}

/// The servers that a gateway names under this key of a page.
fn servers(page: &Raw, key: &str) -> Vec<String> {
    page.member("_meta").and_then(|meta| meta.member_as(key)).unwrap_or_default()
}

/// Combines the hints of two pages: the shorter TTL and the more private scope.
fn stricter(one: CacheHints, other: CacheHints) -> CacheHints {
    let scope = if one.is_public() { other.scope } else { one.scope };
    CacheHints { ttl_ms: one.ttl_ms.min(other.ttl_ms), scope }
}

fn leave_out_bad_headers(listing: &mut Listing<Tool>) {
    let mut index = 0;
    listing.items.retain(|tool| {
        let verdict = header_params(&tool.input_schema);
        if let Err(error) = &verdict {
            tracing::warn!(tool = tool.name, %error, "the tool is dropped, because its header rules are invalid");
            listing.bad.push(BadItem { index, name: Some(tool.name.clone()), reason: error.to_string() });
        }
        index += 1;
        verdict.is_ok()
    });
}

fn endless(name: &str, why: &str) -> Fault {
    Fault::new(FaultKind::BadAnswer, format!("the server's list `{name}` does not end: {why}"))
}
