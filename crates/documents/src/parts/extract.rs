//! Makes a document of some nodes of another one.

use crate::{Document, NodeId, NodeKind, Ref};
use std::collections::{HashMap, HashSet};

/// Copies the nodes of `kept` that lie below the body, with their order and nesting. A node whose
/// parent is not kept becomes a child of the body. Captions and footnotes come along.
pub(super) fn extract(document: &Document, kept: &HashSet<NodeId>) -> Document {
    let mut copy =
        Copy { from: document, kept, to: Document::new(document.name.clone()), ids: HashMap::new() };
    copy.to.origin.clone_from(&document.origin);
    copy.to.pages.clone_from(&document.pages);
    copy.to.extra.clone_from(&document.extra);
    let roots = copy.roots();
    let children = roots.into_iter().map(|id| copy.node(id, NodeId::BODY).into()).collect();
    copy.to.body.node.children = children;
    copy.relink();
    copy.to
}

struct Copy<'a> {
    from: &'a Document,
    kept: &'a HashSet<NodeId>,
    to: Document,
    ids: HashMap<NodeId, NodeId>,
}

impl Copy<'_> {
    /// The kept nodes without a kept ancestor, in reading order.
    fn roots(&self) -> Vec<NodeId> {
        let mut roots = Vec::new();
        let mut open: Vec<NodeId> = self.from.children(NodeId::BODY).collect();
        open.reverse();
        let mut seen = HashSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            if self.kept.contains(&id) {
                roots.push(id);
            } else {
                let at = open.len();
                open.extend(self.from.children(id));
                open[at..].reverse();
            }
        }
        roots
    }

    /// Copies a node and its kept descendants; the depth of a checked document is limited.
    fn node(&mut self, old: NodeId, parent: NodeId) -> NodeId {
        if let Some(known) = self.ids.get(&old) {
            return *known;
        }
        let new = self.push(old);
        self.ids.insert(old, new);
        let (from, kept) = (self.from, self.kept);
        let mut children: Vec<NodeId> = from.children(old).filter(|child| kept.contains(child)).collect();
        // Captions, footnotes and rich cells are children as well, and may lie on no page.
        for beside in attached(from, old) {
            if !children.contains(&beside) && from.children(old).any(|child| child == beside) {
                children.push(beside);
            }
        }
        let children = children.into_iter().map(|child| self.node(child, new).into()).collect();
        if let Some(node) = self.to.node_mut(new) {
            node.self_ref = new;
            node.parent = Some(parent.into());
            node.children = children;
        }
        new
    }

    fn push(&mut self, old: NodeId) -> NodeId {
        let index = old.position();
        macro_rules! copy {
            ($list:ident) => {{
                self.to.$list.push(self.from.$list[index].clone());
                NodeId::new(old.kind, self.to.$list.len() - 1)
            }};
        }
        match old.kind {
            NodeKind::Body | NodeKind::Furniture => old,
            NodeKind::Group => copy!(groups),
            NodeKind::Text => copy!(texts),
            NodeKind::Picture => copy!(pictures),
            NodeKind::Table => copy!(tables),
            NodeKind::KeyValue => copy!(key_value_items),
            NodeKind::Form => copy!(form_items),
            NodeKind::FieldRegion => copy!(field_regions),
            NodeKind::FieldItem => copy!(field_items),
        }
    }

    /// Renames the references beside the tree, and drops those to nodes that were not copied.
    fn relink(&mut self) {
        let ids = &self.ids;
        let rename = |refs: &mut Vec<Ref>| {
            refs.retain_mut(|other| ids.get(&other.to).map(|new| other.to = *new).is_some());
        };
        for text in &mut self.to.texts {
            let lists = [&mut text.captions, &mut text.references, &mut text.footnotes];
            lists.into_iter().chain([&mut text.comments]).flatten().for_each(rename);
        }
        for picture in &mut self.to.pictures {
            let lists = [&mut picture.captions, &mut picture.references, &mut picture.footnotes];
            lists.into_iter().for_each(rename);
        }
        for table in &mut self.to.tables {
            let lists = [&mut table.captions, &mut table.references, &mut table.footnotes];
            lists.into_iter().chain(&mut table.comments).for_each(rename);
            for cell in &mut table.data.table_cells {
                cell.content = cell
                    .content
                    .take()
                    .and_then(|content| Some(Ref { to: *ids.get(&content.to)?, ..content }));
            }
        }
    }
}

fn attached(document: &Document, id: NodeId) -> Vec<NodeId> {
    let lists: [&[Ref]; 2] = match id.kind {
        NodeKind::Picture => {
            let picture = &document.pictures[id.position()];
            [&picture.captions, &picture.footnotes]
        }
        NodeKind::Table => {
            let table = &document.tables[id.position()];
            [&table.captions, &table.footnotes]
        }
        _ => [&[], &[]],
    };
    let cells = (id.kind == NodeKind::Table).then(|| &document.tables[id.position()].data.table_cells);
    let content = cells.into_iter().flatten().filter_map(|cell| cell.content.as_ref());
    lists.into_iter().flatten().chain(content).map(|other| other.to).collect()
}
