//! Graph: the subschemas of a schema, with edges to those that apply to the same value, to its
//! members or to its items.
//!
//! References are edges, so a schema of 3 KB that expands to millions of branches is a small
//! graph, and its cost can be computed without expanding it. Keywords of all drafts are counted,
//! because an unused keyword only raises the estimate.

mod build;
mod resources;

use serde_json::Value;
use std::collections::HashMap;

pub(crate) use build::Unsupported;

/// The index of a subschema in [`Graph::nodes`].
pub(crate) type Id = usize;

/// All subschemas that can be reached from the root. The root is the first.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    /// Every pattern of the schema, once.
    pub(crate) patterns: Vec<Box<str>>,
    /// Total length of the JSON pointers to subschemas and their keywords: the engine stores each
    /// as a string.
    pub(crate) pointer_bytes: usize,
    /// Number of subschemas with their own `$id`.
    pub(crate) embedded: usize,
}

/// One subschema.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// Number of JSON values in its own assertions, such as the choices of an `enum`.
    pub(crate) values: u64,
    /// Bytes of text that an error about this subschema may copy.
    pub(crate) copied: u64,
    /// Subschemas for the same value: references, unions, conditions.
    pub(crate) same_value: Vec<Id>,
    pub(crate) properties: HashMap<Box<str>, Id>,
    /// The pattern's index in [`Graph::patterns`], and the subschema.
    pub(crate) pattern_properties: Vec<(usize, Id)>,
    /// For members that `properties` does not name.
    pub(crate) other_members: Vec<Id>,
    pub(crate) names: Option<Id>,
    pub(crate) first_items: Vec<Id>,
    /// For items after the `first_items`.
    pub(crate) items: Vec<Id>,
    /// For every item.
    pub(crate) contains: Option<Id>,
    /// True if `unevaluatedProperties` or `unevaluatedItems` is among the keywords.
    pub(crate) unevaluated: bool,
    pub(crate) pattern: Option<usize>,
    pub(crate) unique: bool,
    /// True if text is parsed: `format`, `contentEncoding`, `contentMediaType`.
    pub(crate) parses_text: bool,
}

impl Graph {
    pub(crate) fn new(schema: &Value) -> Result<Self, Unsupported> {
        build::graph(schema)
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }
}
