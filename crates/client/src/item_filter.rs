//! The items of a server that this client may see and use.

use crate::era::Ask;
use std::{fmt, sync::Arc};
use trunkline_protocol::{Fault, FaultKind, Raw, method};

/// A kind of items. Resource templates count as resources, by their text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    Tool,
    Prompt,
    Resource,
}

type Test = dyn Fn(ItemKind, &str) -> bool + Send + Sync;
type CallTest = dyn Fn(ItemKind, &str, Option<&Raw>) -> Result<(), Fault> + Send + Sync;

/// Decides by name or URI which items are listed and used; by default all. An item that is left
/// out looks like one that the server does not have.
#[derive(Clone, Default)]
pub struct ItemFilter {
    allows: Option<Arc<Test>>,
    /// Decides about a call of an item by its arguments.
    permits: Option<Arc<CallTest>>,
}

impl ItemFilter {
    pub fn new(allows: impl Fn(ItemKind, &str) -> bool + Send + Sync + 'static) -> Self {
        Self { allows: Some(Arc::new(allows)), permits: None }
    }

    /// This filter, which also refuses single calls by their arguments.
    #[must_use]
    pub fn with_calls(
        mut self,
        permits: impl Fn(ItemKind, &str, Option<&Raw>) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> Self {
        self.permits = Some(Arc::new(permits));
        self
    }

    /// Removes the items that are not allowed from a page of a list.
    pub(crate) fn retain(&self, list: &str, items: &mut Vec<Raw>) {
        let (kind, member) = match list {
            method::TOOLS_LIST => (ItemKind::Tool, "name"),
            method::PROMPTS_LIST => (ItemKind::Prompt, "name"),
            method::RESOURCES_LIST => (ItemKind::Resource, "uri"),
            method::RESOURCES_TEMPLATES => (ItemKind::Resource, "uriTemplate"),
            _ => return,
        };
        if let Some(allows) = &self.allows {
            items.retain(|item| item.text_of(member).is_none_or(|name| allows(kind, &name)));
        }
    }

    /// Refuses a request that uses an item that is not allowed.
    pub(crate) fn check(&self, ask: &Ask) -> Result<(), Fault> {
        let text = |member: &str| ask.params.get(member).and_then(Raw::text);
        let named = match ask.method.as_ref() {
            method::TOOLS_CALL => text("name").map(|name| (ItemKind::Tool, name)),
            method::PROMPTS_GET => text("name").map(|name| (ItemKind::Prompt, name)),
            method::RESOURCES_READ | method::RESOURCES_SUBSCRIBE => {
                text("uri").map(|uri| (ItemKind::Resource, uri))
            }
            method::COMPLETE => return self.check_reference(ask.params.get("ref")),
            _ => None,
        };
        let Some((kind, name)) = named else { return Ok(()) };
        self.allow(kind, &name)?;
        match &self.permits {
            Some(permits) if ask.method != method::RESOURCES_SUBSCRIBE => {
                permits(kind, &name, ask.params.get("arguments"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn allow(&self, kind: ItemKind, name: &str) -> Result<(), Fault> {
        match &self.allows {
            Some(allows) if !allows(kind, name) => Err(missing(kind, name)),
            _ => Ok(()),
        }
    }

    fn check_reference(&self, reference: Option<&Raw>) -> Result<(), Fault> {
        let Some(reference) = reference else { return Ok(()) };
        for (member, kind) in [("name", ItemKind::Prompt), ("uri", ItemKind::Resource)] {
            if let Some(name) = reference.text_of(member) {
                self.allow(kind, &name)?;
            }
        }
        Ok(())
    }
}

/// The fault for an item that is not there, or not for this client.
pub fn missing(kind: ItemKind, name: &str) -> Fault {
    match kind {
        ItemKind::Tool => {
            Fault::new(FaultKind::NotAvailable, format!("the server has no tool named `{name}`"))
        }
        ItemKind::Prompt => {
            Fault::new(FaultKind::NotAvailable, format!("the server has no prompt named `{name}`"))
        }
        ItemKind::Resource => {
            Fault::new(FaultKind::ResourceNotFound, format!("the server has no resource `{name}`"))
        }
    }
}

impl fmt::Debug for ItemFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ItemFilter").finish_non_exhaustive()
    }
}
