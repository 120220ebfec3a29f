//! Parts of a document: its outline, one section, one page.
//!
//! A part is a document of its own, so every writer can write it.

mod extract;

use crate::{Document, NodeId, NodeKind};
use std::collections::HashSet;

/// A heading of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Heading {
    pub id: NodeId,
    /// 0 for the title, 1 for the highest section.
    pub level: u32,
    pub title: String,
    pub page: Option<i64>,
}

/// The headings in reading order.
pub fn outline(document: &Document) -> Vec<Heading> {
    walk(document).into_iter().filter_map(|id| heading(document, id)).collect()
}

/// The section that begins with a heading of [`outline`], by its position there. It ends before
/// the next heading of the same or a higher level.
pub fn section(document: &Document, position: usize) -> Option<Document> {
    let order = walk(document);
    let mut headings =
        order.iter().enumerate().filter_map(|(at, id)| Some((at, heading(document, *id)?))).skip(position);
    let (start, first) = headings.next()?;
    let end = headings.find(|(_, next)| next.level <= first.level).map_or(order.len(), |(at, _)| at);
    Some(extract::extract(document, &order[start..end].iter().copied().collect()))
}

/// All that lies on a page, slide or sheet. Formats without pages have none.
pub fn page(document: &Document, number: i64) -> Option<Document> {
    document.pages.get(&number)?;
    let order = walk(document);
    let mut kept: HashSet<NodeId> = HashSet::new();
    // Children come after their parents, so in reverse order a group's children are known.
    for id in order.into_iter().rev() {
        let here = document.provenance(id).iter().any(|place| place.page_no == number);
        if here || document.children(id).any(|child| kept.contains(&child)) {
            kept.insert(id);
        }
    }
    let mut part = extract::extract(document, &kept);
    part.pages.retain(|page, _| *page == number);
    Some(part)
}

/// All nodes below the body in reading order, each once.
fn walk(document: &Document) -> Vec<NodeId> {
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    let mut open: Vec<NodeId> = document.children(NodeId::BODY).collect();
    open.reverse();
    while let Some(id) = open.pop() {
        if seen.insert(id) {
            order.push(id);
            let at = open.len();
            open.extend(document.children(id));
            open[at..].reverse();
        }
    }
    order
}

fn heading(document: &Document, id: NodeId) -> Option<Heading> {
    if id.kind != NodeKind::Text || document.node(id)?.content_layer != "body" {
        return None;
    }
    let text = document.texts.get(id.position())?;
    let level = match text.label.as_str() {
        "title" => 0,
        "section_header" => text.level.unwrap_or(1).max(1),
        _ => return None,
    };
    let page = text.prov.first().map(|place| place.page_no);
    Some(Heading { id, level, title: text_below(document, id), page })
}

/// The text of a node; a formatted one has it in the runs below.
fn text_below(document: &Document, id: NodeId) -> String {
    let mut parts = Vec::new();
    let text = document.texts.get(id.position()).map_or("", |text| text.text.trim());
    if text.is_empty() {
        let runs = document.children(id).filter(|child| child.kind == NodeKind::Group);
        for run in runs.flat_map(|group| document.children(group)) {
            if run.kind == NodeKind::Text {
                parts.extend(document.texts.get(run.position()).map(|run| run.text.trim()));
            }
        }
    } else {
        parts.push(text);
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests;
