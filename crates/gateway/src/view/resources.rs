//! Finds the server of a URI: the one that lists it, else one whose template matches, else one
//! that lists resources of the same origin, else the only server that has resources at all.

use super::View;
use crate::{
    catalog::{Route, Server},
    rewrite,
};
use std::{collections::HashMap, sync::Arc};

use super::NameTable;

/// The server of each origin, and the only server that has resources, if there is just one.
#[derive(Debug, Default)]
pub(super) struct Origins {
    by_origin: HashMap<String, usize>,
    only: Option<usize>,
}

/// The server of a URI, and its own URI.
#[derive(Debug)]
pub(crate) struct LocatedResource<'a> {
    pub(crate) server: &'a Arc<Server>,
    /// The server's own URI.
    pub(crate) inner: String,
    /// The listed resource or template that matched, if any; it must be permitted as well.
    pub(crate) route: Option<&'a Route>,
}

impl Origins {
    pub(super) fn new(servers: &[Arc<Server>], resources: &NameTable, templates: &NameTable) -> Self {
        let mut by_origin = HashMap::new();
        let places: HashMap<&str, usize> =
            servers.iter().enumerate().map(|(place, server)| (server.name().as_ref(), place)).collect();
        for route in resources.routes().iter().chain(templates.routes()) {
            if let (Some(origin), Some(place)) =
                (origin(route.inner()), places.get(route.server().name().as_ref()))
            {
                by_origin.entry(origin.to_owned()).or_insert(*place);
            }
        }
        let mut able =
            servers.iter().enumerate().filter(|(_, server)| server.capabilities().resources.is_some());
        let only = match (able.next(), able.next()) {
            (Some((place, _)), None) => Some(place),
            _ => None,
        };
        Self { by_origin, only: only.or_else(|| (servers.len() == 1).then_some(0)) }
    }
}

impl View {
    pub(crate) fn locate(&self, uri: &str) -> Option<LocatedResource<'_>> {
        if let Some(route) = self.resources.get(uri) {
            return Some(LocatedResource {
                server: route.server(),
                inner: route.inner().to_owned(),
                route: Some(route),
            });
        }
        if self.servers.len() > 1 && rewrite::is_ours(uri) {
            let (server, inner) = rewrite::inner_uri(uri)?;
            return Some(LocatedResource {
                server: self.server(server)?,
                inner: inner.to_owned(),
                route: None,
            });
        }
        let fits = |route: &&Route| {
            let listed_as_is = route.inner_raw().is_none();
            listed_as_is && route.item().template.as_ref().is_some_and(|template| template.matches(uri))
        };
        if let Some(route) = self.templates.routes().iter().find(fits) {
            return Some(LocatedResource {
                server: route.server(),
                inner: uri.to_owned(),
                route: Some(route),
            });
        }
        let by_origin = origin(uri).and_then(|origin| self.origins.by_origin.get(origin)).copied();
        let place = by_origin.or(self.origins.only)?;
        Some(LocatedResource { server: &self.servers[place], inner: uri.to_owned(), route: None })
    }
}

/// Scheme and authority; `None` if the text is no URI or its origin contains a template
/// expression.
fn origin(uri: &str) -> Option<&str> {
    let scheme = uri.find(':')?;
    let rest = &uri[scheme + 1..];
    let end = match rest.strip_prefix("//") {
        Some(after) => scheme + 3 + after.find(['/', '?', '#']).unwrap_or(after.len()),
        None => scheme + 1,
    };
    let origin = &uri[..end];
    (!origin.contains(['{', '}'])).then_some(origin)
}

#[cfg(test)]
mod tests {
    use super::origin;

    #[test]
    fn an_origin_is_scheme_and_authority() {
        assert_eq!(origin("http://h:1/a?b"), Some("http://h:1"));
        assert_eq!(origin("file:///a"), Some("file://"));
        assert_eq!(origin("urn:x:y"), Some("urn:"));
        assert_eq!(origin("note://{id}"), None);
        assert_eq!(origin("nothing"), None);
    }
}
