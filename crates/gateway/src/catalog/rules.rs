//! What the configuration says about what is offered, as plain data.

use crate::{
    policy::{BadGlob, FilterRules, PolicyRules},
    view::ViewRules,
};
use std::collections::BTreeMap;
use trunkline_protocol::{Object, ServerName};

/// All rules of a gateway.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Servers that nothing is said about are offered as they are.
    pub servers: BTreeMap<ServerName, ServerRules>,
    /// What is behind the main door.
    pub main: ViewRules,
    pub views: BTreeMap<String, ViewRules>,
    pub policy: PolicyRules,
}

/// Rules for one server. Names are the server's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerRules {
    pub tools: KindRules,
    pub prompts: KindRules,
    /// Resources by URI, templates by their text.
    pub resources: KindRules,
    /// Whether arguments are checked against the tool's schema before they are sent.
    pub check_arguments: bool,
    /// Whether the server is reached over HTTP, where a tool with unusable `x-mcp-header` must not be offered.
    pub over_http: bool,
}

/// Rules for one kind of things.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KindRules {
    pub filter: FilterRules,
    /// What is different about some things, by name or glob. The first that fits and says something about a matter decides it.
    pub items: Vec<(String, ItemRules)>,
}

/// Rules for one thing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemRules {
    /// The name to offer it under, behind the server's. Resources keep their URIs.
    pub rename: Option<String>,
    pub hide: Option<bool>,
    pub description: Option<String>,
    /// Set beside those that the server gives, or in their place.
    pub annotations: Object,
}

/// Rules that cannot be used. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRules {
    #[error(transparent)]
    Glob(#[from] BadGlob),
    #[error("view `{view}` names the server `{server}`, which is not configured")]
    UnknownServer { view: String, server: ServerName },
    #[error("a view cannot be called `{0}`: 1 to 64 letters, digits, `-` or `_`")]
    ViewName(String),
    #[error("two servers are called `{0}`")]
    Twice(ServerName),
}
