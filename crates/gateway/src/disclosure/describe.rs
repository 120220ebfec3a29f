//! `describe_tool`: the whole definitions of tools.

use crate::{
    policy::{Asker, Policy},
    view::View,
};
use serde::Deserialize;
use trunkline_protocol::{
    FaultKind, Raw,
    message::{CallToolResult, ContentBlock},
};

/// Most tools that are described at once.
const MAX_NAMES: usize = 20;

/// The arguments of `describe_tool`. One name may stand for a list of one.
#[derive(Debug, Deserialize)]
pub(crate) struct Describe {
    #[serde(default)]
    names: Vec<String>,
    name: Option<String>,
}

/// The definitions of the named tools. A tool that the caller may not use is unknown.
pub(crate) fn describe(view: &View, policy: &Policy, asker: &Asker<'_>, wanted: &Describe) -> Raw {
    let names: Vec<&String> = wanted.name.iter().chain(&wanted.names).collect();
    if names.is_empty() || names.len() > MAX_NAMES {
        let text = format!("`names` must have 1 to {MAX_NAMES} names of tools");
        return CallToolResult::failure(FaultKind::InvalidRequest, text).to_raw();
    }
    let mut blocks = Vec::new();
    let mut unknown = Vec::new();
    for name in names {
        match view.tools.get(name).filter(|route| policy.admits_asker(asker, route)) {
            Some(route) => blocks.push(ContentBlock::text(route.listing().as_str())),
            None => unknown.push(format!("`{}`", crate::catalog::shown(name))),
        }
    }
    if !unknown.is_empty() {
        let text = format!("unknown tool {}", unknown.join(", "));
        if blocks.is_empty() {
            return CallToolResult::failure(FaultKind::NotAvailable, text).to_raw();
        }
        blocks.push(ContentBlock::text(text));
    }
    CallToolResult { content: Some(blocks), ..CallToolResult::default() }.to_raw()
}
