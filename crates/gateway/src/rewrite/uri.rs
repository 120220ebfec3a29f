//! URIs that two servers of one view list: that of the later server becomes
//! `trunkline:<server>/<its URI>`.
//!
//! A server name contains no `/`, so the first one ends it and the rest is the server's own URI,
//! unchanged. A URI that already begins with `trunkline:` is always rewritten, so that a server
//! cannot forge a rewritten URI. A view of one server rewrites nothing.

use crate::{catalog::Template, upstream::Kind};
use std::{collections::HashSet, sync::Arc};
use trunkline_protocol::ServerName;

const SCHEME: &str = "trunkline:";

/// The URIs and templates of one server that are rewritten in one view.
#[derive(Debug, Default)]
pub(crate) struct UriMap {
    prefix: String,
    exact: HashSet<Arc<str>>,
    /// Listed URIs that are not rewritten, even if a rewritten template matches them.
    kept: HashSet<Arc<str>>,
    texts: HashSet<Arc<str>>,
    templates: Vec<Template>,
}

/// The public form of a URI that collides.
pub(crate) fn public_uri(server: &ServerName, uri: &str) -> String {
    format!("{SCHEME}{server}/{uri}")
}

/// Splits a rewritten URI into the server and its own URI.
pub(crate) fn inner_uri(public: &str) -> Option<(&str, &str)> {
    public.strip_prefix(SCHEME)?.split_once('/')
}

/// True if a URI has the form of a rewritten one.
pub(crate) fn is_ours(uri: &str) -> bool {
    uri.starts_with(SCHEME)
}

impl UriMap {
    pub(crate) fn new(server: &ServerName) -> Self {
        Self { prefix: public_uri(server, ""), ..Self::default() }
    }

    pub(crate) fn add(&mut self, uri: &Arc<str>) {
        self.exact.insert(Arc::clone(uri));
    }

    pub(crate) fn keep(&mut self, uri: &Arc<str>) {
        self.kept.insert(Arc::clone(uri));
    }

    pub(crate) fn add_template(&mut self, text: &Arc<str>, template: &Template) {
        self.texts.insert(Arc::clone(text));
        self.templates.push(template.clone());
    }

    /// True if nothing is rewritten.
    pub(crate) fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.templates.is_empty()
    }

    /// The public form of a listed URI or template, if that differs.
    pub(crate) fn publish_listed(&self, uri: &str, kind: Kind) -> Option<String> {
        let rewritten = match kind {
            Kind::Templates => self.texts.contains(uri),
            Kind::Tools | Kind::Prompts | Kind::Resources => self.exact.contains(uri),
        };
        rewritten.then(|| format!("{}{uri}", self.prefix))
    }

    /// The public form of any URI or template of this server, if that differs.
    pub(crate) fn publish(&self, uri: &str) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let rewritten = self.exact.contains(uri)
            || self.texts.contains(uri)
            || (!self.kept.contains(uri) && self.templates.iter().any(|template| template.matches(uri)));
        rewritten.then(|| format!("{}{uri}", self.prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rewritten_uri_leads_back() {
        let server: ServerName = "fs".parse().unwrap();
        for uri in ["file:///a", "", "trunkline:x/y", "a b/c?d#e", "é:"] {
            let public = public_uri(&server, uri);
            assert!(is_ours(&public));
            assert_eq!(inner_uri(&public), Some(("fs", uri)));
        }
        assert_eq!(inner_uri("file:///a"), None);
    }

    #[test]
    fn only_what_collided_is_published_otherwise() {
        let mut map = UriMap::new(&"b".parse().unwrap());
        assert_eq!(map.publish("file:///a"), None);
        map.add(&"file:///a".into());
        map.add_template(&"note://{id}".into(), &Template::new("note://{id}"));
        assert_eq!(map.publish("file:///a").unwrap(), "trunkline:b/file:///a");
        assert_eq!(map.publish("note://7").unwrap(), "trunkline:b/note://7");
        assert_eq!(map.publish("note://{id}").unwrap(), "trunkline:b/note://{id}");
        assert_eq!(map.publish("file:///b"), None);
    }
}
