//! The reading order of a document, and the nodes that are left out.

use super::Visited;
use crate::{Document, NodeId, NodeKind, Ref};

/// The labels of items that are exported.
const LABELS: [&str; 28] = [
    "title",
    "document_index",
    "section_header",
    "paragraph",
    "table",
    "picture",
    "formula",
    "checkbox_unselected",
    "checkbox_selected",
    "text",
    "list_item",
    "code",
    "reference",
    "page_header",
    "page_footer",
    "key_value_region",
    "empty_value",
    "field_region",
    "field_item",
    "field_key",
    "field_value",
    "field_heading",
    "field_hint",
    "marker",
    "handwritten_text",
    "footnote",
    "caption",
    "form",
];

pub(crate) struct Tree<'a> {
    pub(crate) document: &'a Document,
    /// Captions and footnotes, which the item that they belong to writes.
    pub(crate) attached: Visited,
    captions: Visited,
    below_captions: Visited,
    pub(crate) excluded: Visited,
    layers: Layers,
}

/// The layers of a document that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layers {
    Body,
    BodyAndNotes,
}

/// The children of pictures that are walked.
#[derive(Clone, Copy, PartialEq)]
enum Pictures {
    Whole,
    CaptionsOnly,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(document: &'a Document, layers: Layers) -> Self {
        let mut tree = Self {
            document,
            attached: Visited::new(),
            captions: Visited::new(),
            below_captions: Visited::new(),
            excluded: Visited::new(),
            layers,
        };
        let all = walk(document, NodeId::BODY, Pictures::Whole);
        for id in &all {
            let (captions, footnotes) = attachments(document, *id);
            tree.captions.extend(captions.iter().map(|caption| caption.to));
            tree.attached.extend(captions.iter().chain(footnotes).map(|other| other.to));
        }
        let below = |caption: &NodeId| walk(document, *caption, Pictures::Whole).split_off(1);
        tree.below_captions = tree.captions.iter().flat_map(below).collect();
        let hidden = |id: &NodeId| is_item(*id) && !LABELS.contains(&document.label(*id));
        tree.excluded.extend(all.into_iter().filter(|id| layers.show(document, *id)).filter(hidden));
        tree.exclude_tables();
        tree
    }

    /// The nodes of the body layer from `root` on, in reading order.
    pub(crate) fn order(&self, root: NodeId) -> Vec<NodeId> {
        let inside = self.below_captions.contains(&root) || self.captions.contains(&root);
        let mut order = walk(self.document, root, Pictures::CaptionsOnly);
        order.retain(|id| self.shows(*id) && (inside || !self.below_captions.contains(id)));
        order
    }

    /// True if a node's layer is written.
    pub(crate) fn shows(&self, id: NodeId) -> bool {
        self.layers.show(self.document, id)
    }

    /// The content of a table's rich cells is left out with the table.
    fn exclude_tables(&mut self) {
        for (index, table) in self.document.tables.iter().enumerate() {
            let id = NodeId::new(NodeKind::Table, index);
            if self.shows(id) && !self.excluded.contains(&id) {
                continue;
            }
            self.excluded.insert(id);
            for content in table.data.table_cells.iter().filter_map(|cell| cell.content.as_ref()) {
                self.excluded.extend(walk(self.document, content.to, Pictures::Whole));
            }
        }
    }
}

/// The captions and footnotes of a node.
pub(crate) fn attachments(document: &Document, id: NodeId) -> (&[Ref], &[Ref]) {
    let index = id.position();
    match id.kind {
        NodeKind::Text => {
            let text = &document.texts[index];
            if text.label == "code" {
                (text.captions.as_deref().unwrap_or(&[]), text.footnotes.as_deref().unwrap_or(&[]))
            } else {
                (&[], &[])
            }
        }
        NodeKind::Picture => (&document.pictures[index].captions, &document.pictures[index].footnotes),
        NodeKind::Table => (&document.tables[index].captions, &document.tables[index].footnotes),
        _ => (&[], &[]),
    }
}

impl Layers {
    fn show(self, document: &Document, id: NodeId) -> bool {
        document.node(id).is_some_and(|node| match node.content_layer.as_str() {
            "body" => true,
            "notes" => self == Self::BodyAndNotes,
            _ => false,
        })
    }
}

fn is_item(id: NodeId) -> bool {
    !matches!(id.kind, NodeKind::Body | NodeKind::Furniture | NodeKind::Group)
}

/// All nodes from `root` on in reading order. Documents have no cycles, but a node with two
/// parents is met twice; only the first time counts.
fn walk(document: &Document, root: NodeId, pictures: Pictures) -> Vec<NodeId> {
    let mut order = Vec::new();
    let mut seen = Visited::new();
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        order.push(id);
        let at = open.len();
        if id.kind == NodeKind::Picture && pictures == Pictures::CaptionsOnly {
            let captions = &document.pictures[id.position()].captions;
            let is_caption = |child: &NodeId| captions.iter().any(|caption| caption.to == *child);
            open.extend(document.children(id).filter(is_caption));
        } else {
            open.extend(document.children(id));
        }
        open[at..].reverse();
    }
    order
}
