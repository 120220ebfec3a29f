//! The JSON members that nodes share, and those that this version does not know.

use super::node_id::{NodeId, Ref};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use std::collections::BTreeMap;

/// Members that the model has no field for; they are written back unchanged.
pub type Extra = BTreeMap<String, Value>;

/// The members that every node has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Members {
    pub self_ref: NodeId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Ref>,
    #[serde(default)]
    pub children: Vec<Ref>,
    #[serde(default = "body")]
    pub content_layer: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
}

/// A place in the source: page, box and the span of characters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    pub page_no: i64,
    pub bbox: Bounds,
    pub charspan: Value,
    #[serde(flatten)]
    pub extra: Extra,
}

/// A box, with numbers as they were written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    pub l: Number,
    pub t: Number,
    pub r: Number,
    pub b: Number,
    #[serde(default = "top_left")]
    pub coord_origin: String,
    #[serde(flatten)]
    pub extra: Extra,
}

/// The style of a run of text.
#[expect(clippy::struct_excessive_bools, reason = "the schema has these members")]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Formatting {
    #[serde(default)]
    pub bold: bool,
    #[serde(default)]
    pub italic: bool,
    #[serde(default)]
    pub underline: bool,
    #[serde(default)]
    pub strikethrough: bool,
    #[serde(default)]
    pub script: Script,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Script {
    #[default]
    Baseline,
    Sub,
    Super,
}

impl Members {
    pub fn new(self_ref: NodeId, parent: NodeId) -> Self {
        Self {
            self_ref,
            parent: Some(parent.into()),
            children: Vec::new(),
            content_layer: body(),
            meta: None,
        }
    }
}

fn body() -> String {
    "body".to_owned()
}

fn top_left() -> String {
    "TOPLEFT".to_owned()
}
