//! The part of the catalog that a caller may know about.

use super::Gateway;
use crate::{
    catalog::{Catalog, CatalogReport, Server, ServerReport},
    upstream::Kind,
};
use trunkline_protocol::Caller;

impl Gateway {
    /// True if the caller may see errors, paths, sessions and metrics.
    pub fn may_operate(&self, caller: &Caller) -> bool {
        self.inner.now.load().policy.may_operate(caller)
    }

    /// True if a role gives the caller the right to operate.
    pub fn is_operator(&self, caller: &Caller) -> bool {
        self.inner.now.load().policy.is_operator(caller)
    }

    /// The token scopes of which any one would give the caller a role, if it needs one and has
    /// none.
    pub fn helpful_scopes(&self, caller: &Caller) -> Vec<String> {
        self.inner.now.load().policy.helpful_scopes(caller)
    }

    /// The servers and views of which the caller may use anything, with the numbers of the items
    /// that it may use.
    pub fn visible_catalog(&self, caller: &Caller) -> CatalogReport {
        let catalog = self.inner.now.load();
        let servers = catalog.main.servers.iter();
        let used = servers.filter(|server| catalog.policy.may_use(caller, &catalog.main, server));
        let entered = |name: &&String| {
            let view = catalog.views.get(name.as_str());
            view.is_some_and(|view| catalog.policy.may_enter(caller, view))
        };
        CatalogReport {
            generation: catalog.report.generation,
            servers: used.map(|server| report(&catalog, server, caller)).collect(),
            views: catalog.report.views.iter().filter(entered).cloned().collect(),
            costs: Vec::new(),
        }
    }
}

fn report(catalog: &Catalog, server: &Server, caller: &Caller) -> ServerReport {
    let count = |kind: Kind| {
        let routes = catalog.main.table(kind).routes().iter();
        let own = routes.filter(|route| route.server().name() == server.name());
        own.filter(|route| catalog.policy.admits(caller, route)).count()
    };
    ServerReport {
        server: server.name().to_string(),
        heard: server.offer().is_some(),
        stale: server.is_stale(),
        tools: count(Kind::Tools),
        tokens: 0,
        prompts: count(Kind::Prompts),
        resources: count(Kind::Resources),
        templates: count(Kind::Templates),
        quarantined: Vec::new(),
        hidden: Vec::new(),
        drifted: Vec::new(),
    }
}
