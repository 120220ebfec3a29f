//! The kinds of nodes: groups, texts, pictures, tables and the rest.

use super::members::{Bounds, Extra, Formatting, Members, Provenance};
use super::node_id::Ref;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A node that only holds others, such as a list or a slide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    #[serde(flatten)]
    pub node: Members,
    #[serde(default = "group_name")]
    pub name: String,
    #[serde(default = "unspecified")]
    pub label: String,
    #[serde(flatten)]
    pub extra: Extra,
}

/// A paragraph, heading, list item, formula or any other text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Text {
    #[serde(flatten)]
    pub node: Members,
    pub label: String,
    #[serde(default)]
    pub prov: Vec<Provenance>,
    #[serde(default)]
    pub orig: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formatting: Option<Formatting>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hyperlink: Option<String>,
    /// Of a heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// Of a list item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enumerated: Option<bool>,
    /// Of a list item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<String>,
    /// Of code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captions: Option<Vec<Ref>>,
    /// Of code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<Vec<Ref>>,
    /// Of code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footnotes: Option<Vec<Ref>>,
    /// Of code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_language: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comments: Option<Vec<Ref>>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    #[serde(flatten)]
    pub node: Members,
    pub label: String,
    #[serde(default)]
    pub prov: Vec<Provenance>,
    #[serde(default)]
    pub captions: Vec<Ref>,
    #[serde(default)]
    pub references: Vec<Ref>,
    #[serde(default)]
    pub footnotes: Vec<Ref>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Value>,
    #[serde(default)]
    pub annotations: Vec<Value>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    #[serde(flatten)]
    pub node: Members,
    pub label: String,
    #[serde(default)]
    pub prov: Vec<Provenance>,
    #[serde(default)]
    pub captions: Vec<Ref>,
    #[serde(default)]
    pub references: Vec<Ref>,
    #[serde(default)]
    pub footnotes: Vec<Ref>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Value>,
    pub data: TableData,
    #[serde(default)]
    pub annotations: Vec<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comments: Option<Vec<Ref>>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// The cells of a table. The member `grid`, which repeats them by position, is not kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TableData {
    #[serde(default)]
    pub table_cells: Vec<TableCell>,
    #[serde(default)]
    pub num_rows: u32,
    #[serde(default)]
    pub num_cols: u32,
    #[serde(default, skip_serializing)]
    grid: serde::de::IgnoredAny,
    #[serde(flatten)]
    pub extra: Extra,
}

#[expect(clippy::struct_excessive_bools, reason = "the schema has these members")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableCell {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bbox: Option<Bounds>,
    #[serde(default = "one")]
    pub row_span: u32,
    #[serde(default = "one")]
    pub col_span: u32,
    pub start_row_offset_idx: u32,
    pub end_row_offset_idx: u32,
    pub start_col_offset_idx: u32,
    pub end_col_offset_idx: u32,
    pub text: String,
    #[serde(default)]
    pub column_header: bool,
    #[serde(default)]
    pub row_header: bool,
    #[serde(default)]
    pub row_section: bool,
    #[serde(default)]
    pub fillable: bool,
    /// The subtree that a rich cell shows in place of its text.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub content: Option<Ref>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// Key-value areas, forms, field regions and field items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Other {
    #[serde(flatten)]
    pub node: Members,
    #[serde(default)]
    pub label: String,
    #[serde(default)]
    pub prov: Vec<Provenance>,
    #[serde(flatten)]
    pub extra: Extra,
}

impl TableData {
    pub fn new(num_rows: u32, num_cols: u32, table_cells: Vec<TableCell>) -> Self {
        Self { table_cells, num_rows, num_cols, ..Self::default() }
    }
}

fn group_name() -> String {
    "group".to_owned()
}

fn unspecified() -> String {
    "unspecified".to_owned()
}

fn one() -> u32 {
    1
}
