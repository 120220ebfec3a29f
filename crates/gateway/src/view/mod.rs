//! View: a part of what is offered, with its own names: all of it at the main door, a named part, or one server alone.

mod cursor;
mod listing;
mod names;
mod resources;
mod rules;
mod shelf;
mod uris;

use crate::{
    catalog::{Compiled, Server, ServerFilters},
    gateway::Source,
    policy::{BadGlob, Filter, FilterRules},
    upstream::{Kind, Offer},
};
use names::{Namer, Refused};
use std::sync::Arc;

pub(crate) use cursor::Cursors;
pub(crate) use listing::{ListOptions, Listing};
pub(crate) use resources::Found;
pub use rules::{Naming, ViewRules};
pub(crate) use shelf::Shelf;

/// What a view shows, as one snapshot has it.
#[derive(Debug)]
pub(crate) struct View {
    /// The address: empty for the main door, `<view>` or `server/<name>`.
    pub(crate) name: Arc<str>,
    pub(crate) servers: Vec<Arc<Server>>,
    pub(crate) tools: Shelf,
    pub(crate) prompts: Shelf,
    pub(crate) resources: Shelf,
    pub(crate) templates: Shelf,
    /// By the beginning of their URIs, which server lists resources.
    origins: resources::Origins,
    /// Names that could not be given.
    pub(crate) refused: Vec<Refused>,
    pub(crate) naming: Naming,
    /// Whether one server is shown as it is, with its own names and its own introduction.
    pub(crate) transparent: bool,
    /// Whether besides no rule speaks about its tools and prompts, so that the server itself may judge names it does not list.
    pub(crate) unruled: bool,
    /// What the view is for.
    pub(crate) instructions: Option<String>,
}

/// What one server gives to a view.
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
        let seats: Vec<(&Arc<Server>, &Share)> = servers.iter().zip(shares).collect();
        let mut refused = Vec::new();
        let mut named = |kind: Kind, filter: &Filter| {
            let mut namer = Namer::new(naming, kind);
            for (server, share) in &seats {
                namer.add(server, share.list(kind), filter);
            }
            let (routes, mut more) = namer.finish();
            refused.append(&mut more);
            Shelf::new(routes)
        };
        let (tools, prompts) = (named(Kind::Tools, &filters.tools), named(Kind::Prompts, &filters.prompts));
        let located = |kind: Kind| {
            let lists = seats.iter().map(|(server, share)| (*server, share.list(kind)));
            Shelf::new(uris::routes(lists, kind, &filters.resources))
        };
        let (resources, templates) = (located(Kind::Resources), located(Kind::Templates));
        Self {
            origins: resources::Origins::new(&servers, &resources, &templates),
            naming,
            transparent: alone && naming == Naming::Bare,
            unruled: alone && naming == Naming::Bare && filters.is_plain() && shares[0].filters.is_plain(),
            instructions: filters.rules.instructions.clone(),
            name,
            servers,
            tools,
            prompts,
            resources,
            templates,
            refused,
        }
    }

    pub(crate) fn shelf(&self, kind: Kind) -> &Shelf {
        match kind {
            Kind::Tools => &self.tools,
            Kind::Prompts => &self.prompts,
            Kind::Resources => &self.resources,
            Kind::Templates => &self.templates,
        }
    }

    pub(crate) fn server(&self, name: &str) -> Option<&Arc<Server>> {
        self.servers.iter().find(|server| server.name().as_ref() == name)
    }
}

impl Share {
    pub(crate) fn list(&self, kind: Kind) -> &Arc<Compiled> {
        &self.lists[kind as usize]
    }

    /// Whether both give the same to a view.
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
