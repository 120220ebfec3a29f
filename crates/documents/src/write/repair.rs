//! Puts list items that stand outside a list into one, as docling-core does when it loads a
//! document.

use super::is_list;
use crate::{Document, Group, Members, NodeId, NodeKind};
use std::borrow::Cow;

/// The document with every list item in a list; successive items share one.
pub(crate) fn repaired(document: &Document) -> Cow<'_, Document> {
    let runs = misplaced(document);
    if runs.is_empty() {
        return Cow::Borrowed(document);
    }
    let mut document = document.clone();
    for run in runs.into_iter().rev() {
        wrap(&mut document, &run);
    }
    Cow::Owned(document)
}

fn misplaced(document: &Document) -> Vec<Vec<NodeId>> {
    let mut runs: Vec<Vec<NodeId>> = Vec::new();
    let mut open: Vec<NodeId> = vec![NodeId::BODY];
    let mut seen = super::Visited::new();
    let mut previous: Option<NodeId> = None;
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let at = open.len();
        open.extend(document.children(id));
        open[at..].reverse();
        if is_item(document, id) && !parent(document, id).is_some_and(|list| is_list(document, list)) {
            let follows = previous.is_some_and(|previous| {
                is_item(document, previous)
                    && parent(document, previous).is_none_or(|parent| parent == NodeId::BODY)
            });
            match runs.last_mut() {
                Some(run) if follows => run.push(id),
                _ => runs.push(vec![id]),
            }
        }
        previous = Some(id);
    }
    runs
}

fn wrap(document: &mut Document, run: &[NodeId]) {
    let list = NodeId::new(NodeKind::Group, document.groups.len());
    let Some(above) = parent(document, run[0]) else { return };
    let Some(node) = document.node_mut(above) else { return };
    let Some(at) = node.children.iter().position(|child| child.to == run[0]) else { return };
    node.children.insert(at, list.into());
    for item in run {
        let Some(old) = parent(document, *item) else { continue };
        if let Some(node) = document.node_mut(old) {
            node.children.retain(|child| child.to != *item);
        }
        if let Some(node) = document.node_mut(*item) {
            node.parent = Some(list.into());
        }
    }
    let mut node = Members::new(list, above);
    node.children = run.iter().map(|item| (*item).into()).collect();
    let (name, label) = ("group".to_owned(), "list".to_owned());
    document.groups.push(Group { node, name, label, extra: crate::Extra::new() });
}

fn is_item(document: &Document, id: NodeId) -> bool {
    id.kind == NodeKind::Text && document.label(id) == "list_item"
}

fn parent(document: &Document, id: NodeId) -> Option<NodeId> {
    document.node(id)?.parent.as_ref().map(|parent| parent.to)
}
