//! The configured rules for what is offered, as plain data.

use crate::{
    policy::{BadGlob, BadPolicy, FilterRules, PolicyRules},
    view::ViewRules,
};
use std::collections::BTreeMap;
use trunkline_protocol::{Object, ServerName};

/// All rules of a gateway.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Servers without an entry are offered unchanged.
    pub servers: BTreeMap<ServerName, ServerRules>,
    /// The main view, `/mcp`.
    pub main: ViewRules,
    pub views: BTreeMap<String, ViewRules>,
    pub policy: PolicyRules,
}

/// Rules for one server. Names are the server's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerRules {
    pub tools: KindRules,
    pub prompts: KindRules,
    /// Resources are matched by URI, templates by their text.
    pub resources: KindRules,
    /// The accepted definitions. `None`: any definition is accepted.
    pub lock: Option<LockRules>,
    /// True if arguments are checked against the tool's schema before they are sent.
    pub check_arguments: bool,
    /// True if the server is reached over HTTP, where a tool with an invalid `x-mcp-header` must
    /// not be offered.
    pub over_http: bool,
    /// True if its own annotations and tags are believed: it is one of our own packs.
    pub trusted: bool,
    /// Most bytes of text in a result. `None`: no limit.
    pub result_bytes: Option<usize>,
}

/// The accepted definitions of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockRules {
    pub on_drift: OnDrift,
    /// The hashes of the definitions, by the keys of `trunkline_lock::Kind::key`.
    pub hashes: BTreeMap<String, String>,
}

/// The handling of definitions that differ from the accepted ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDrift {
    /// They are offered, logged and shown in the status.
    #[default]
    Report,
    /// They are not offered.
    Quarantine,
}

/// Rules for one kind of items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KindRules {
    pub filter: FilterRules,
    /// Rules for single items, by name or glob. For each field the first matching rule that sets
    /// it wins.
    pub items: Vec<(String, ItemRules)>,
}

/// Rules for one item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemRules {
    /// The public name, after the server's prefix. Resources keep their URIs.
    pub rename: Option<String>,
    pub hide: Option<bool>,
    pub description: Option<String>,
    /// Added to the server's annotations; they replace those of the same name.
    pub annotations: Object,
    /// Tags for policy rules.
    pub tags: Vec<String>,
}

/// The rules are invalid. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRules {
    #[error(transparent)]
    Glob(#[from] BadGlob),
    #[error(transparent)]
    Policy(#[from] BadPolicy),
    #[error("view `{view}` names the server `{server}`, which is not configured")]
    UnknownServer { view: String, server: ServerName },
    #[error("invalid view name `{0}`: expected 1 to 64 letters, digits, `-` or `_`")]
    ViewName(String),
    #[error("two servers have the name `{0}`")]
    Twice(ServerName),
}
