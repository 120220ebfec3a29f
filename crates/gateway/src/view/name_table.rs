//! The routes of one kind in a view, by name and in order, and the lists that each standing sees.

use super::listing::{ListOptions, Lister, Listing};
use crate::{
    catalog::Route,
    policy::{Asker, Policy, Standing},
    upstream::Kind,
};
use parking_lot::RwLock;
use std::{collections::HashMap, sync::Arc};

/// Standings whose lists are cached; further ones are rendered each time.
const MAX_LISTINGS: usize = 256;

#[derive(Debug)]
pub(crate) struct NameTable {
    routes: Vec<Route>,
    by_name: HashMap<Box<str>, usize>,
    listings: RwLock<HashMap<Standing, Arc<Listing>>>,
}

impl NameTable {
    /// The names must be unique.
    pub(super) fn new(routes: Vec<Route>) -> Self {
        let by_name = routes.iter().enumerate().map(|(place, route)| (route.name().into(), place)).collect();
        Self { routes, by_name, listings: RwLock::default() }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Route> {
        self.by_name.get(name).map(|place| &self.routes[*place])
    }

    pub(crate) fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// The list as this caller may see it, rendered once for all callers of the same standing.
    pub(crate) fn listing(
        &self,
        policy: &Policy,
        asker: &Asker<'_>,
        make: impl FnOnce(&Standing, &[&Route]) -> Listing,
    ) -> Arc<Listing> {
        let standing = policy.standing(asker);
        let known = self.listings.read().get(&standing).cloned();
        if let Some(listing) = known {
            return listing;
        }
        let visible: Vec<&Route> =
            self.routes.iter().filter(|route| policy.admits_asker(asker, route)).collect();
        let listing = Arc::new(make(&standing, &visible));
        if listing.settled {
            let mut listings = self.listings.write();
            if listings.len() < MAX_LISTINGS {
                listings.insert(standing, Arc::clone(&listing));
            }
        }
        listing
    }
}

impl super::View {
    /// One list of this view, as this caller may see it.
    pub(crate) fn listing(
        &self,
        kind: Kind,
        policy: &Policy,
        asker: &Asker<'_>,
        options: &ListOptions,
    ) -> Arc<Listing> {
        self.table(kind).listing(policy, asker, |standing, visible| {
            Lister { view: self, kind, policy, caller: asker.caller, standing, options }.list(visible)
        })
    }
}
