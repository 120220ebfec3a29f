//! The model of a document: `DoclingDocument` of schema 1.x, with every member kept.
//!
//! A document is a tree by reference: nodes lie in lists (`texts`, `tables`, …) and name their
//! children. [`Document::from_json`] accepts only documents whose references all lead somewhere
//! and form no cycle, so that writers can follow them without further checks.

mod check;
mod error;
mod members;
mod node_id;
mod nodes;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

pub use error::DocumentError;
pub use members::{Bounds, Extra, Formatting, Members, Provenance, Script};
pub use node_id::{NodeId, NodeKind, Ref};
pub use nodes::{Group, Other, Picture, Table, TableCell, TableData, Text};

/// The version of the schema that this crate writes.
pub const SCHEMA_VERSION: &str = "1.10.0";

/// A converted document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    #[serde(default = "schema_name")]
    pub schema_name: String,
    #[serde(default = "schema_version")]
    pub version: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    #[serde(default = "furniture_root")]
    pub furniture: Group,
    #[serde(default = "body_root")]
    pub body: Group,
    #[serde(default)]
    pub groups: Vec<Group>,
    #[serde(default)]
    pub texts: Vec<Text>,
    #[serde(default)]
    pub pictures: Vec<Picture>,
    #[serde(default)]
    pub tables: Vec<Table>,
    #[serde(default)]
    pub key_value_items: Vec<Other>,
    #[serde(default)]
    pub form_items: Vec<Other>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub field_regions: Vec<Other>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub field_items: Vec<Other>,
    #[serde(default)]
    pub pages: BTreeMap<PageNumber, Page>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// The file that a document was read from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    pub mimetype: String,
    pub binary_hash: u64,
    pub filename: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// A page, slide or sheet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page {
    pub size: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Value>,
    pub page_no: i64,
    #[serde(flatten)]
    pub extra: Extra,
}

/// The number of a page; JSON writes it as the name of a member.
pub type PageNumber = i64;

impl Document {
    /// An empty document.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            schema_name: schema_name(),
            version: schema_version(),
            name: name.into(),
            origin: None,
            furniture: furniture_root(),
            body: body_root(),
            groups: Vec::new(),
            texts: Vec::new(),
            pictures: Vec::new(),
            tables: Vec::new(),
            key_value_items: Vec::new(),
            form_items: Vec::new(),
            field_regions: Vec::new(),
            field_items: Vec::new(),
            pages: BTreeMap::new(),
            extra: Extra::new(),
        }
    }

    /// Reads and checks the JSON of a document of any 1.x version.
    pub fn from_json(json: &[u8]) -> Result<Self, DocumentError> {
        let mut document: Self = serde_json::from_slice(json)?;
        check::check(&document)?;
        document.upgrade();
        Ok(document)
    }

    /// Version 1.0.0 had no layers. Later versions only added members, so all are written as the
    /// version that other readers of today accept.
    fn upgrade(&mut self) {
        if self.version == "1.0.0" {
            for text in &mut self.texts {
                if matches!(text.label.as_str(), "page_header" | "page_footer") {
                    "furniture".clone_into(&mut text.node.content_layer);
                }
            }
        }
        SCHEMA_VERSION.clone_into(&mut self.version);
    }

    /// Writes the document as JSON. Members that are null are left out.
    pub fn to_json(&self) -> Vec<u8> {
        // Only a map whose keys are no strings or a failing writer can make this fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The members that all nodes share, of one node.
    pub fn node(&self, id: NodeId) -> Option<&Members> {
        let index = id.position();
        Some(match id.kind {
            NodeKind::Body => &self.body.node,
            NodeKind::Furniture => &self.furniture.node,
            NodeKind::Group => &self.groups.get(index)?.node,
            NodeKind::Text => &self.texts.get(index)?.node,
            NodeKind::Picture => &self.pictures.get(index)?.node,
            NodeKind::Table => &self.tables.get(index)?.node,
            NodeKind::KeyValue => &self.key_value_items.get(index)?.node,
            NodeKind::Form => &self.form_items.get(index)?.node,
            NodeKind::FieldRegion => &self.field_regions.get(index)?.node,
            NodeKind::FieldItem => &self.field_items.get(index)?.node,
        })
    }

    pub(crate) fn node_mut(&mut self, id: NodeId) -> Option<&mut Members> {
        let index = id.position();
        Some(match id.kind {
            NodeKind::Body => &mut self.body.node,
            NodeKind::Furniture => &mut self.furniture.node,
            NodeKind::Group => &mut self.groups.get_mut(index)?.node,
            NodeKind::Text => &mut self.texts.get_mut(index)?.node,
            NodeKind::Picture => &mut self.pictures.get_mut(index)?.node,
            NodeKind::Table => &mut self.tables.get_mut(index)?.node,
            NodeKind::KeyValue => &mut self.key_value_items.get_mut(index)?.node,
            NodeKind::Form => &mut self.form_items.get_mut(index)?.node,
            NodeKind::FieldRegion => &mut self.field_regions.get_mut(index)?.node,
            NodeKind::FieldItem => &mut self.field_items.get_mut(index)?.node,
        })
    }

    /// The children of a node, in order.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.node(id).into_iter().flat_map(|node| node.children.iter().map(|child| child.to))
    }

    /// The label of a node, such as `section_header`.
    pub fn label(&self, id: NodeId) -> &str {
        let index = id.position();
        let label = match id.kind {
            NodeKind::Body => Some(&self.body.label),
            NodeKind::Furniture => Some(&self.furniture.label),
            NodeKind::Group => self.groups.get(index).map(|group| &group.label),
            NodeKind::Text => self.texts.get(index).map(|text| &text.label),
            NodeKind::Picture => self.pictures.get(index).map(|picture| &picture.label),
            NodeKind::Table => self.tables.get(index).map(|table| &table.label),
            NodeKind::KeyValue => self.key_value_items.get(index).map(|item| &item.label),
            NodeKind::Form => self.form_items.get(index).map(|item| &item.label),
            NodeKind::FieldRegion => self.field_regions.get(index).map(|item| &item.label),
            NodeKind::FieldItem => self.field_items.get(index).map(|item| &item.label),
        };
        label.map_or("", String::as_str)
    }

    /// The places of a node in the source.
    pub fn provenance(&self, id: NodeId) -> &[Provenance] {
        let index = id.position();
        let prov = match id.kind {
            NodeKind::Body | NodeKind::Furniture | NodeKind::Group => None,
            NodeKind::Text => self.texts.get(index).map(|text| &text.prov),
            NodeKind::Picture => self.pictures.get(index).map(|picture| &picture.prov),
            NodeKind::Table => self.tables.get(index).map(|table| &table.prov),
            NodeKind::KeyValue => self.key_value_items.get(index).map(|item| &item.prov),
            NodeKind::Form => self.form_items.get(index).map(|item| &item.prov),
            NodeKind::FieldRegion => self.field_regions.get(index).map(|item| &item.prov),
            NodeKind::FieldItem => self.field_items.get(index).map(|item| &item.prov),
        };
        prov.map_or(&[], Vec::as_slice)
    }
}

fn schema_name() -> String {
    "DoclingDocument".to_owned()
}

fn schema_version() -> String {
    SCHEMA_VERSION.to_owned()
}

fn furniture_root() -> Group {
    Group {
        node: Members { content_layer: "furniture".to_owned(), ..root(NodeId::FURNITURE) },
        ..body_root()
    }
}

fn body_root() -> Group {
    Group {
        node: root(NodeId::BODY),
        name: "_root_".to_owned(),
        label: "unspecified".to_owned(),
        extra: Extra::new(),
    }
}

fn root(id: NodeId) -> Members {
    Members { parent: None, ..Members::new(id, id) }
}

#[cfg(test)]
mod tests;
