//! Item: one checked item of a server's list, with the changes of the rules applied.

use super::{
    checker::Checker,
    quarantine::Reason,
    rules::{ItemRules, ServerRules},
    template::Template,
};
use crate::{policy::ToolTraits, rewrite, upstream::Kind};
use serde_json::{Map, Value};
use std::sync::Arc;
use trunkline_protocol::{
    Raw,
    message::{header_params, meta},
};

/// Most bytes of one item.
pub(crate) const MAX_ITEM_BYTES: usize = 512 * 1024;

/// An item as its server lists it, with the changes of the rules. Its name is still the server's.
#[derive(Debug)]
pub(crate) struct Item {
    /// The server's name or URI.
    pub(crate) inner: Arc<str>,
    /// The name given by the rules.
    pub(crate) renamed: Option<Arc<str>>,
    pub(crate) listing: Raw,
    pub(crate) checker: Option<Arc<Checker>>,
    pub(crate) template: Option<Template>,
    /// Only for tools.
    pub(crate) traits: Option<ToolTraits>,
}

/// The member that identifies an item of this kind.
pub(crate) fn named_by(kind: Kind) -> &'static str {
    match kind {
        Kind::Tools | Kind::Prompts => "name",
        Kind::Resources => "uri",
        Kind::Templates => "uriTemplate",
    }
}

impl Item {
    /// The server's name for the item. Without one no rule can be applied.
    pub(crate) fn name(kind: Kind, raw: &Raw) -> Result<String, Reason> {
        if !raw.is_object() {
            return Err(Reason::NotAnObject);
        }
        let member = named_by(kind);
        let name = raw.member(member).and_then(|name| name.text().map(std::borrow::Cow::into_owned));
        name.filter(|name| !name.is_empty()).ok_or(Reason::NoName(member))
    }

    pub(crate) fn new(
        kind: Kind,
        inner: &str,
        raw: &Raw,
        (server, rules): (&ServerRules, &ItemRules),
    ) -> Result<Self, Reason> {
        let size = raw.as_bytes().len();
        if size > MAX_ITEM_BYTES {
            return Err(Reason::TooLarge { size, most: MAX_ITEM_BYTES });
        }
        let mut listing = raw.clone();
        let mut checker = None;
        if kind == Kind::Tools {
            let schema = raw.member("inputSchema").filter(Raw::is_object).ok_or(Reason::NoSchema)?;
            let of_what = schema.member("type");
            if of_what.is_some_and(|of_what| of_what.text().as_deref() != Some("object")) {
                return Err(Reason::NotOfObjects);
            }
            listing = with_usable_headers(&listing, &schema, server)?;
            checker = server.check_arguments.then(|| Checker::new(&schema).map(Arc::new)).transpose()?;
        }
        if rules.description.is_some() || !rules.annotations.is_empty() {
            listing = rewrite::describe(&listing, rules.description.as_deref(), &rules.annotations);
        }
        let renamed = rules.rename.as_deref();
        let renamed = renamed.filter(|_| matches!(kind, Kind::Tools | Kind::Prompts)).map(Arc::from);
        let template = (kind == Kind::Templates).then(|| Template::new(inner));
        let traits = (kind == Kind::Tools).then(|| tool_traits(raw, server, rules));
        Ok(Self { inner: inner.into(), renamed, listing, checker, template, traits })
    }
}

/// The tags and annotations that policy rules match: those of the operator, and those of our own
/// packs. Other servers could claim anything.
pub(super) fn tool_traits(raw: &Raw, server: &ServerRules, rules: &ItemRules) -> ToolTraits {
    let own = |raw: Option<Raw>| raw.filter(|_| server.trusted);
    let metadata = own(meta::get(Some(raw), meta::TOOL_METADATA));
    let mut tags: Vec<String> = metadata.and_then(|it| it.member_as("tags")).unwrap_or_default();
    tags.extend(rules.tags.iter().cloned());
    let annotations = own(raw.member("annotations")).and_then(|it| it.decode().ok());
    let mut annotations: Map<String, Value> = annotations.unwrap_or_default();
    for (name, value) in rules.annotations.iter() {
        annotations.insert(name.to_owned(), value.decode().unwrap_or_default());
    }
    ToolTraits { tags, annotations }
}

/// An invalid `x-mcp-header` quarantines the tool only if the server is reached over HTTP.
/// Otherwise just the keyword is removed: HTTP clients of the gateway would have to refuse a tool
/// with it.
fn with_usable_headers(listing: &Raw, schema: &Raw, server: &ServerRules) -> Result<Raw, Reason> {
    match header_params(schema) {
        Ok(_) => Ok(listing.clone()),
        Err(bad) if server.over_http => Err(bad.into()),
        Err(_) => {
            let schema = rewrite::without_headers(schema);
            Ok(listing.with("inputSchema", &schema).unwrap_or_else(|| listing.clone()))
        }
    }
}
