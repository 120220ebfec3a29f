//! `server/discover`: the gateway's identity and the merged capabilities of all servers.

use super::Inner;
use crate::{
    catalog::{Catalog, Server},
    upstream,
    view::View,
};
use std::sync::Arc;
use trunkline_protocol::{Caller, Object, Raw, Revision, message::meta};

/// Most bytes of one server's instructions.
const MAX_INSTRUCTIONS: usize = 64 * 1024;
/// The lists whose changes the gateway announces, even if the server does not.
const LISTS: [&str; 3] = ["tools", "prompts", "resources"];

impl Inner {
    pub(super) fn discover(&self, catalog: &Catalog, view: &View, caller: &Caller) -> Raw {
        for server in view.unconnected_for(&catalog.policy, caller) {
            server.wake();
        }
        if view.transparent
            && let Some(offer) = view.servers.first().and_then(|server| server.offer())
        {
            let withheld = view.servers.first().is_some_and(|server| server.withholds_instructions());
            let mut introduction = offer.introduction.clone();
            if withheld && let Some(mut members) = introduction.object() {
                members.remove("instructions");
                introduction = members.to_raw();
            }
            return self.with_lineage(&introduction, view);
        }
        let known: Vec<&Arc<Server>> = view
            .servers
            .iter()
            .filter(|server| catalog.policy.permit_contact(caller, view, server).is_some())
            .collect();
        let versions: Vec<&str> = Revision::ALL.iter().rev().map(|revision| revision.as_str()).collect();
        let mut result = Object::new();
        result.set("supportedVersions", serde_json::json!(versions).into());
        result.set("capabilities", capabilities(&known));
        if let Some(instructions) = self.instructions(view, &known) {
            result.set("instructions", Raw::string(&instructions));
        }
        result.set("cacheScope", Raw::string(view.cache_scope(&catalog.policy)));
        let mut own = Object::new();
        own.set(meta::SERVER_INFO, self.shared.options.identity.to_raw());
        result.set("_meta", own.to_raw());
        self.with_lineage(&result.to_raw(), view)
    }

    /// The introduction with the ids of all gateways behind it.
    fn with_lineage(&self, introduction: &Raw, view: &View) -> Raw {
        let introduction = &with_resources(introduction, view);
        let Some(instance) = &self.shared.options.instance else { return introduction.clone() };
        let offers = view.servers.iter().filter_map(|server| server.offer());
        let ids = upstream::behind(instance, offers);
        meta::set(Some(introduction), [(upstream::BEHIND, ids)]).unwrap_or_else(|_| introduction.clone())
    }

    /// The instructions of the gateway, then those of each server under its name.
    fn instructions(&self, view: &View, known: &[&Arc<Server>]) -> Option<String> {
        let mut parts: Vec<String> =
            self.shared.options.instructions.iter().chain(&view.instructions).cloned().collect();
        for server in known.iter().filter(|server| !server.withholds_instructions()) {
            let introduction = server.offer().map(|offer| &offer.introduction);
            let text = introduction.and_then(|raw| raw.member_as::<String>("instructions"));
            if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
                let end = text.floor_char_boundary(MAX_INSTRUCTIONS);
                parts.push(format!("## {}\n\n{}", server.name(), &text[..end]));
            }
        }
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }
}

/// The introduction with the capability to read the rest of results that were cut.
fn with_resources(introduction: &Raw, view: &View) -> Raw {
    let capabilities = introduction.member("capabilities").unwrap_or_else(Raw::empty_object);
    if !view.cuts_results || capabilities.member("resources").is_some() {
        return introduction.clone();
    }
    let with = capabilities.with("resources", &Raw::empty_object());
    with.and_then(|it| introduction.with("capabilities", &it)).unwrap_or_else(|| introduction.clone())
}

/// The union of the servers' capabilities. If two disagree, the first wins. While a server has not
/// connected yet, all lists are declared, because it may have any of them.
fn capabilities(known: &[&Arc<Server>]) -> Raw {
    let mut all = Object::new();
    if known.iter().any(|server| server.offer().is_none()) {
        for list in LISTS {
            all.set(list, Raw::empty_object());
        }
    }
    for server in known {
        let declared = server.offer().and_then(|offer| offer.introduction.member("capabilities"));
        for (name, value) in declared.and_then(|raw| raw.object()).unwrap_or_default().iter() {
            let merged = all.get(name).map_or_else(|| value.clone(), |known| merge(known, value));
            all.set(name.to_owned(), merged);
        }
    }
    // The gateway serves tasks of all servers; what one of them can do says nothing about that.
    all.remove("tasks");
    for list in LISTS {
        if let Some(with_changes) = all.get(list).and_then(|own| own.with("listChanged", &truth())) {
            all.set(list, with_changes);
        }
    }
    all.to_raw()
}

/// The members of both; `true` wins over `false`, else the first over the second.
fn merge(first: &Raw, second: &Raw) -> Raw {
    let (Some(mut all), Some(more)) = (first.object(), second.object()) else { return first.clone() };
    for (name, value) in more.iter() {
        if all.get(name).is_none() || value.as_str() == "true" {
            all.set(name.to_owned(), value.clone());
        }
    }
    all.to_raw()
}

fn truth() -> Raw {
    serde_json::Value::from(true).into()
}
