//! Namer: assigns unique names to the tools and prompts of a view.

use super::Naming;
use crate::{
    catalog::{Compiled, Quarantined, Reason, Route, Server, named_by},
    disclosure::{self, Disclosure},
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
    disclosure: Disclosure,
    taken: HashMap<Box<str>, usize>,
    routes: Vec<Route>,
    refused: Vec<Refused>,
}

impl Namer {
    pub(super) fn new(naming: Naming, kind: Kind, disclosure: Disclosure) -> Self {
        Self { naming, kind, disclosure, taken: HashMap::new(), routes: Vec::new(), refused: Vec::new() }
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
            if let Some(taken_by) = self.taken_by(wanted) {
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

    /// The item, or the view itself, that has this name already.
    fn taken_by(&self, name: &str) -> Option<String> {
        if self.kind == Kind::Tools && disclosure::is_reserved(self.disclosure, name) {
            return Some("the view's own tool".to_owned());
        }
        let by = &self.routes[*self.taken.get(name)?];
        Some(format!("{}/{}", by.server().name(), by.inner()))
    }

    pub(super) fn finish(self) -> (Vec<Route>, Vec<Refused>) {
        (self.routes, self.refused)
    }
}
