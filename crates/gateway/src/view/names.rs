//! Namer: assigns unique names to the tools and prompts of a view.

use super::Naming;
use crate::{
    catalog::{Compiled, Quarantined, Reason, Route, Server, named_by},
    policy::{self, Filter},
    rewrite,
    upstream::Kind,
};
use std::{collections::HashMap, sync::Arc};
use trunkline_protocol::{PublicName, ServerName, ToolName};

/// An item that got no name.
#[derive(Debug, Clone)]
pub(crate) struct Refused {
    pub(crate) server: ServerName,
    pub(crate) kind: Kind,
    pub(crate) why: Quarantined,
}

pub(super) struct Namer {
    naming: Naming,
    kind: Kind,
    taken: HashMap<Box<str>, usize>,
    routes: Vec<Route>,
    refused: Vec<Refused>,
}

impl Namer {
    pub(super) fn new(naming: Naming, kind: Kind) -> Self {
        Self { naming, kind, taken: HashMap::new(), routes: Vec::new(), refused: Vec::new() }
    }

    /// Adds the items that pass the view's filter, which matches prefixed public names.
    pub(super) fn add(&mut self, server: &Arc<Server>, list: &Compiled, filter: &Filter) {
        for item in &list.items {
            let own = item.renamed.as_ref().unwrap_or(&item.inner);
            let public = PublicName::join(server.name(), &ToolName::from(own.as_ref()));
            let whole = policy::subject(server.name().as_ref(), &item.inner);
            let denied = [whole.as_str(), &item.inner].iter().any(|name| filter.denies(name));
            if denied || !filter.admits(public.as_str()) {
                continue;
            }
            let wanted = match self.naming {
                Naming::Prefixed => public.as_str(),
                Naming::Bare if self.taken.contains_key(own.as_ref()) => public.as_str(),
                Naming::Bare => own,
            };
            if let Some(by) = self.taken.get(wanted) {
                let taken_by = format!("{}/{}", self.routes[*by].server().name(), self.routes[*by].inner());
                let reason = Reason::Taken { public: wanted.to_owned(), taken_by };
                let why = Quarantined::new(&item.inner, &reason);
                self.refused.push(Refused { server: server.name().clone(), kind: self.kind, why });
                continue;
            }
            let listing = if wanted == item.inner.as_ref() {
                item.listing.clone()
            } else {
                rewrite::renamed(&item.listing, named_by(self.kind), wanted)
            };
            self.taken.insert(wanted.into(), self.routes.len());
            self.routes.push(Route::new(wanted, public.as_str(), (server, item), listing));
        }
    }

    pub(super) fn finish(self) -> (Vec<Route>, Vec<Refused>) {
        (self.routes, self.refused)
    }
}
