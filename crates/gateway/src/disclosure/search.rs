//! `search_tools`: the answer to a question.

use super::own_tools::one_line;
use crate::{
    catalog::Route,
    policy::{Asker, Policy},
    view::View,
};
use serde::Deserialize;
use serde_json::Value;
use trunkline_protocol::{
    Caller, FaultKind, Raw,
    message::{CallToolResult, ContentBlock},
};

/// The arguments of `search_tools`.
#[derive(Debug, Deserialize)]
pub(crate) struct Search {
    query: String,
    server: Option<String>,
    limit: Option<usize>,
}

const DEFAULT_LIMIT: usize = 10;
const MAX_LIMIT: usize = 50;
/// Most arguments that a result names.
const MAX_ARGUMENTS: usize = 24;

/// The tools that fit best, among those that the caller may use.
pub(crate) fn search(view: &View, policy: &Policy, asker: &Asker<'_>, search: &Search) -> Raw {
    let Some(index) = &view.index else {
        return CallToolResult::failure(FaultKind::NotAvailable, "this view has no search").to_raw();
    };
    let routes = view.tools.routes();
    let admits = |place: usize| {
        let route = &routes[place];
        search.server.as_deref().is_none_or(|server| route.server().name().as_ref() == server)
            && policy.admits_asker(asker, route)
    };
    let limit = search.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    let hits = index.search(&search.query, limit, admits);
    let found: Vec<String> = hits.iter().map(|hit| entry(&routes[hit.document])).collect();
    let mut text = match found.len() {
        0 => "No tool fits. Use other words, or fewer of them.".to_owned(),
        _ => found.join("\n\n"),
    };
    let missing = missing(view, policy, asker.caller);
    if !missing.is_empty() {
        text += "\n\nNot connected, so not searched: ";
        text += &missing.join(", ");
    }
    let content = Some(vec![ContentBlock::text(text)]);
    CallToolResult { content, ..CallToolResult::default() }.to_raw()
}

/// A tool in a few lines: name, arguments, description.
fn entry(route: &Route) -> String {
    let tool: Value = route.listing().decode().unwrap_or_default();
    let description = one_line(tool["description"].as_str().unwrap_or_default());
    let arguments = arguments(&tool["inputSchema"]);
    format!("{}({arguments})\n  {description}", route.name()).trim_end().to_owned()
}

/// The names of the arguments; those that may be left out have a `?`.
fn arguments(schema: &Value) -> String {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(properties) = schema["properties"].as_object() else { return String::new() };
    let named = properties.keys().take(MAX_ARGUMENTS).map(|name| {
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        format!("{}{mark}", one_line(name))
    });
    let more = (properties.len() > MAX_ARGUMENTS).then(|| "…".to_owned());
    named.chain(more).collect::<Vec<_>>().join(", ")
}

/// The servers that the caller may use and whose tools are not known.
fn missing<'a>(view: &'a View, policy: &Policy, caller: &Caller) -> Vec<&'a str> {
    let unknown = view.servers.iter().filter(|server| server.offer().is_none());
    unknown
        .filter(|server| policy.may_use(caller, view, server))
        .map(|server| server.name().as_ref())
        .collect()
}
