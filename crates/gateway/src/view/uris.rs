//! Decides which URIs are rewritten in a view, and makes their routes.

use super::Share;
use crate::{
    catalog::{Compiled, Route, Server, named_by},
    policy::{self, Filter},
    rewrite::{self, UriMap},
    upstream::Kind,
};
use std::{collections::HashSet, sync::Arc};

/// The rewritten URIs of each server, in order. The first server to list a URI keeps it.
pub(super) fn assign(shares: &[Share], filter: &Filter, alone: bool) -> Vec<UriMap> {
    let mut taken: HashSet<(Kind, Arc<str>)> = HashSet::new();
    let assigned = shares.iter().map(|share| {
        let name = share.source.name();
        let mut map = UriMap::new(name);
        if alone {
            return map;
        }
        for kind in [Kind::Resources, Kind::Templates] {
            for item in
                share.list(kind).items.iter().filter(|item| is_shown(name.as_ref(), &item.inner, filter))
            {
                if !rewrite::is_ours(&item.inner) && taken.insert((kind, Arc::clone(&item.inner))) {
                    map.keep(&item.inner);
                    continue;
                }
                match &item.template {
                    Some(template) => map.add_template(&item.inner, template),
                    None => map.add(&item.inner),
                }
            }
        }
        map
    });
    assigned.collect()
}

pub(super) fn routes<'a>(
    lists: impl Iterator<Item = (&'a Arc<Server>, &'a Arc<Compiled>)>,
    kind: Kind,
    filter: &Filter,
) -> Vec<Route> {
    let mut routes = Vec::new();
    for (server, list) in lists {
        for item in list.items.iter().filter(|item| is_shown(server.name().as_ref(), &item.inner, filter)) {
            let subject = policy::subject(server.name().as_ref(), &item.inner);
            routes.push(match server.uris().publish_listed(&item.inner, kind) {
                Some(public) => {
                    let listing = rewrite::renamed(&item.listing, named_by(kind), &public);
                    Route::new(&public, &subject, (server, item), listing)
                }
                None => Route::new(&item.inner, &subject, (server, item), item.listing.clone()),
            });
        }
    }
    routes
}

fn is_shown(server: &str, uri: &str, filter: &Filter) -> bool {
    filter.admits(&policy::subject(server, uri))
}
