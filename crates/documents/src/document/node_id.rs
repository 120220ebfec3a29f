//! References between the nodes of a document, such as `#/texts/3`.

use super::members::Extra;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::fmt;

/// The lists of a document that hold nodes, and its two roots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeKind {
    Body,
    Furniture,
    Group,
    Text,
    Picture,
    Table,
    KeyValue,
    Form,
    FieldRegion,
    FieldItem,
}

/// A node's place in its document. The index of a root is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId {
    pub kind: NodeKind,
    pub index: u32,
}

/// A reference to a node, with any other members of its JSON object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ref {
    #[serde(rename = "$ref", alias = "cref")]
    pub to: NodeId,
    #[serde(flatten)]
    pub extra: Extra,
}

const LISTS: [(NodeKind, &str); 8] = [
    (NodeKind::Group, "groups"),
    (NodeKind::Text, "texts"),
    (NodeKind::Picture, "pictures"),
    (NodeKind::Table, "tables"),
    (NodeKind::KeyValue, "key_value_items"),
    (NodeKind::Form, "form_items"),
    (NodeKind::FieldRegion, "field_regions"),
    (NodeKind::FieldItem, "field_items"),
];

impl NodeId {
    pub const BODY: Self = Self { kind: NodeKind::Body, index: 0 };
    pub const FURNITURE: Self = Self { kind: NodeKind::Furniture, index: 0 };

    pub fn new(kind: NodeKind, index: usize) -> Self {
        Self { kind, index: u32::try_from(index).unwrap_or(u32::MAX) }
    }

    /// Reads a reference such as `#/texts/3`.
    pub fn parse(text: &str) -> Option<Self> {
        let path = text.strip_prefix("#/")?;
        match path {
            "body" => return Some(Self::BODY),
            "furniture" => return Some(Self::FURNITURE),
            _ => {}
        }
        let (list, index) = path.split_once('/')?;
        let (kind, _) = LISTS.iter().find(|(_, name)| *name == list)?;
        if !index.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Self { kind: *kind, index: index.parse().ok()? })
    }

    pub(crate) fn position(self) -> usize {
        self.index as usize
    }
}

impl From<NodeId> for Ref {
    fn from(to: NodeId) -> Self {
        Self { to, extra: Extra::new() }
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match LISTS.iter().find(|(kind, _)| *kind == self.kind) {
            Some((_, list)) => write!(f, "#/{list}/{}", self.index),
            None if self.kind == NodeKind::Body => f.write_str("#/body"),
            None => f.write_str("#/furniture"),
        }
    }
}

impl Serialize for NodeId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NodeId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            D::Error::custom(format!("expected a reference such as \"#/texts/3\", got {text:?}"))
        })
    }
}
