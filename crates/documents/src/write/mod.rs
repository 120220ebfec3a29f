//! The common part of the writers of Markdown and HTML: the order of the nodes that are shown.
//!
//! Both follow the exports of docling-core 2.104, so that a document looks the same whoever
//! exports it.

pub(crate) mod grid;
pub(crate) mod link;
pub(crate) mod meta;
mod repair;
mod tree;

pub(crate) use repair::repaired;
pub(crate) use tree::{Layers, Tree};

use crate::{Document, NodeId, NodeKind, Text};
use std::collections::HashSet;

/// The nodes that were already written.
pub(crate) type Visited = HashSet<NodeId>;

/// Written text, with the first item that is in it.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) text: String,
    pub(crate) first: Option<NodeId>,
}

/// The surroundings of a node that change how it is written.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scope {
    pub(crate) list_level: usize,
    pub(crate) inline: bool,
    pub(crate) in_cell: bool,
}

impl Part {
    pub(crate) fn of(text: String, item: NodeId) -> Self {
        Self { text, first: Some(item) }
    }

    /// Joins the texts that are not empty.
    pub(crate) fn join(parts: &[Self], separator: &str) -> Self {
        let first = parts.iter().find_map(|part| part.first);
        let texts: Vec<&str> = texts(parts).collect();
        Self { text: texts.join(separator), first }
    }
}

/// The texts that are not empty.
pub(crate) fn texts(parts: &[Part]) -> impl Iterator<Item = &str> {
    parts.iter().map(|part| part.text.as_str()).filter(|text| !text.is_empty())
}

impl Scope {
    pub(crate) fn inline() -> Self {
        Self { inline: true, ..Self::default() }
    }

    /// Inside a group without a meaning of its own, indentation starts anew.
    pub(crate) fn plain(self) -> Self {
        Self { in_cell: self.in_cell, ..Self::default() }
    }
}

/// The inline group that stands for the text of an item without its own.
pub(crate) fn inline_child(document: &Document, text: &Text) -> Option<NodeId> {
    match text.node.children.as_slice() {
        [only] if text.text.is_empty() && is_inline(document, only.to) => Some(only.to),
        _ => None,
    }
}

pub(crate) fn is_inline(document: &Document, id: NodeId) -> bool {
    id.kind == NodeKind::Group && document.label(id) == "inline"
}

pub(crate) fn is_list(document: &Document, id: NodeId) -> bool {
    id.kind == NodeKind::Group && matches!(document.label(id), "list" | "ordered_list")
}

/// True if a list begins with a numbered item.
pub(crate) fn is_enumerated(document: &Document, list: NodeId) -> bool {
    let first = document.children(list).next().filter(|first| first.kind == NodeKind::Text);
    first
        .and_then(|first| document.texts.get(first.position()))
        .is_some_and(|item| item.label == "list_item" && item.enumerated.unwrap_or(false))
}

/// All text below a node, with tables flattened.
pub(crate) fn flat_text(document: &Document, id: NodeId, excluded: &Visited) -> String {
    let mut parts: Vec<String> = Vec::new();
    if id.kind == NodeKind::Table {
        if excluded.contains(&id) {
            return String::new();
        }
        let mut seen = HashSet::new();
        for cell in grid::Grid::new(&document.tables[id.position()].data).rows().flatten().flatten() {
            match &cell.content {
                Some(content) => {
                    if seen.insert((cell.start_row_offset_idx, cell.start_col_offset_idx)) {
                        parts.push(flat_text(document, content.to, excluded));
                    }
                }
                None => parts.push(cell.text.clone()),
            }
        }
    } else {
        if id.kind == NodeKind::Text && !excluded.contains(&id) {
            parts.push(document.texts[id.position()].text.clone());
        }
        parts.extend(document.children(id).map(|child| flat_text(document, child, excluded)));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" ")
}

/// Escapes text for HTML, quotes left alone.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            other => escaped.push(other),
        }
    }
    escaped
}
