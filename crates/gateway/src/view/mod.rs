//! View: a part of the catalog with names of its own: all servers (`/mcp`), a configured part
//! (`/mcp/<view>`) or one server (`/mcp/server/<name>`).

mod cursor;
mod listing;
mod name_table;
mod names;
mod resources;
mod rules;
mod uris;

use crate::{
    catalog::{Compiled, Server, ServerFilters},
    disclosure::{self, Disclosure},
    gateway::Source,
    policy::{BadGlob, Filter, FilterRules, Policy},
    upstream::{Kind, Offer},
};
use names::{Namer, Refused};
use std::sync::Arc;
use trunkline_search::Index;

pub(crate) use cursor::Cursors;
pub(crate) use listing::{ListOptions, Listing};
pub(crate) use name_table::NameTable;
pub(crate) use resources::LocatedResource;
pub use rules::{Naming, ViewRules};

/// A view in one snapshot of the catalog.
#[derive(Debug)]
pub(crate) struct View {
    /// The path below `/mcp`: empty, `<view>` or `server/<name>`.
    pub(crate) name: Arc<str>,
    pub(crate) servers: Vec<Arc<Server>>,
    pub(crate) tools: NameTable,
    pub(crate) prompts: NameTable,
    pub(crate) resources: NameTable,
    pub(crate) templates: NameTable,
    /// The server of a resource, by the start of its URI.
    origins: resources::Origins,
    /// Names that could not be assigned.
    pub(crate) refused: Vec<Refused>,
    pub(crate) naming: Naming,
    /// True for one server with its own names and its own introduction.
    pub(crate) transparent: bool,
    /// True if in addition no rule concerns its tools and prompts, so that names it does not list
    /// may be passed to the server.
    pub(crate) unruled: bool,
    /// The configured instructions of the view.
    pub(crate) instructions: Option<String>,
    /// The form in which tools are listed; never [`Disclosure::Auto`].
    pub(crate) disclosure: Disclosure,
    pub(crate) budget: Option<u64>,
    /// Most bytes of text in a result.
    result_bytes: Option<usize>,
    /// True if the view or one of its servers limits results.
    pub(crate) cuts_results: bool,
    /// Present if tools are disclosed by search.
    pub(crate) index: Option<Index>,
}

/// One server's part of a view.
#[derive(Clone)]
pub(crate) struct Share {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) offer: Option<Arc<Offer>>,
    pub(crate) lists: [Arc<Compiled>; 4],
    pub(crate) filters: Arc<ServerFilters>,
}

/// Compiled [`ViewRules`].
#[derive(Debug, Default)]
pub(crate) struct ViewFilters {
    pub(crate) rules: ViewRules,
    tools: Filter,
    prompts: Filter,
    resources: Arc<Filter>,
}

impl ViewFilters {
    pub(crate) fn new(rules: &ViewRules) -> Result<Self, BadGlob> {
        Ok(Self {
            tools: Filter::new(&rules.tools)?,
            prompts: Filter::new(&rules.prompts)?,
            resources: Arc::new(Filter::new(&rules.resources)?),
            rules: rules.clone(),
        })
    }
}

impl ViewFilters {
    fn is_plain(&self) -> bool {
        self.rules.tools == FilterRules::default() && self.rules.prompts == FilterRules::default()
    }
}

impl View {
    pub(crate) fn new(name: Arc<str>, shares: &[Share], filters: &ViewFilters) -> Self {
        let naming = filters.rules.naming;
        let alone = shares.len() == 1;
        let uris = uris::assign(shares, &filters.resources, alone);
        let servers: Vec<Arc<Server>> = shares
            .iter()
            .zip(uris)
            .map(|(share, uris)| Arc::new(Server::new(share, &filters.resources, uris)))
            .collect();
        let pairs: Vec<(&Arc<Server>, &Share)> = servers.iter().zip(shares).collect();
        let mut refused = Vec::new();
        let mut named = |kind: Kind, filter: &Filter| {
            let mut namer = Namer::new(naming, kind, filters.rules.disclosure);
            for (server, share) in &pairs {
                namer.add(server, share.list(kind), filter);
            }
            let (routes, mut more) = namer.finish();
            refused.append(&mut more);
            NameTable::new(routes)
        };
        let (tools, prompts) = (named(Kind::Tools, &filters.tools), named(Kind::Prompts, &filters.prompts));
        let located = |kind: Kind| {
            let lists = pairs.iter().map(|(server, share)| (*server, share.list(kind)));
            NameTable::new(uris::routes(lists, kind, &filters.resources))
        };
        let (resources, templates) = (located(Kind::Resources), located(Kind::Templates));
        let disclosure = chosen(&filters.rules, &tools);
        let plain = alone && naming == Naming::Bare && disclosure == Disclosure::All;
        Self {
            origins: resources::Origins::new(&servers, &resources, &templates),
            naming,
            transparent: plain,
            unruled: plain && filters.is_plain() && shares[0].filters.is_plain(),
            instructions: filters.rules.instructions.clone(),
            index: (disclosure == Disclosure::Search).then(|| disclosure::index_of(tools.routes())),
            disclosure,
            budget: filters.rules.budget,
            cuts_results: filters.rules.result_bytes.is_some()
                || servers.iter().any(|server| server.result_bytes().is_some()),
            result_bytes: filters.rules.result_bytes,
            name,
            servers,
            tools,
            prompts,
            resources,
            templates,
            refused,
        }
    }

    /// Most bytes of text in a result of this server.
    pub(crate) fn result_bytes_of(&self, server: &Server) -> Option<usize> {
        [self.result_bytes, server.result_bytes()].into_iter().flatten().min()
    }

    /// The server that a name belongs to, because the view has no other or by its prefix, and the
    /// name without that prefix. The server need not list it.
    pub(crate) fn server_of<'n>(&self, name: &'n str) -> Option<(&Arc<Server>, &'n str)> {
        if self.is_bare_server() {
            return self.servers.first().map(|server| (server, name));
        }
        let (server, own) = name.split_once('_')?;
        Some((self.server(server)?, own))
    }

    pub(crate) fn table(&self, kind: Kind) -> &NameTable {
        match kind {
            Kind::Tools => &self.tools,
            Kind::Prompts => &self.prompts,
            Kind::Resources => &self.resources,
            Kind::Templates => &self.templates,
        }
    }

    /// The `cacheScope` of its lists: those that are the same for all callers are public.
    pub(crate) fn cache_scope(&self, policy: &Policy) -> &'static str {
        let is_same_for_all = policy.is_open() && !self.servers.iter().any(|server| server.is_personal());
        if is_same_for_all { "public" } else { "private" }
    }

    /// True if the view shows one server, whose tools have no prefix.
    pub(crate) fn is_bare_server(&self) -> bool {
        self.naming == Naming::Bare && self.servers.len() == 1
    }

    pub(crate) fn server(&self, name: &str) -> Option<&Arc<Server>> {
        self.servers.iter().find(|server| server.name().as_ref() == name)
    }
}

/// The disclosure for these tools: `auto` depends on their cost.
fn chosen(rules: &ViewRules, tools: &NameTable) -> Disclosure {
    if rules.disclosure != Disclosure::Auto {
        return rules.disclosure;
    }
    let bytes = tools.routes().iter().map(|route| route.listing().as_bytes().len()).sum();
    let is_within = rules.budget.is_none_or(|budget| disclosure::tokens(bytes) as u64 <= budget);
    if is_within { Disclosure::All } else { Disclosure::Search }
}

impl Share {
    pub(crate) fn list(&self, kind: Kind) -> &Arc<Compiled> {
        &self.lists[kind as usize]
    }

    /// True if both lead to the same view.
    pub(crate) fn same(&self, other: &Self) -> bool {
        let same_offer = match (&self.offer, &other.offer) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        Arc::ptr_eq(&self.source, &other.source)
            && same_offer
            && self.lists.iter().zip(&other.lists).all(|(one, other)| Arc::ptr_eq(one, other))
    }
}
