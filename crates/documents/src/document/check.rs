//! Checks that a document's references lead somewhere, form no cycle, and that tables fit limits.

use super::{Document, DocumentError, NodeId, NodeKind, Ref};
use std::collections::HashMap;

/// Most cells of one table, counted as rows × columns; docling-core has the same limit.
const MAX_TABLE_CELLS: u64 = 1_000_000;
/// Most cells of all tables together; docling-core has the same limit.
const MAX_TOTAL_CELLS: u64 = 5_000_000;
/// Deepest nesting of nodes. Writers recurse, and no real document comes near this.
const MAX_DEPTH: usize = 256;

pub(super) fn check(document: &Document) -> Result<(), DocumentError> {
    if document.schema_name != "DoclingDocument" {
        return Err(DocumentError::SchemaName(document.schema_name.clone()));
    }
    if document.version.split('.').next() != Some("1") {
        return Err(DocumentError::Version(document.version.clone()));
    }
    check_tables(document)?;
    for id in ids(document) {
        check_references(document, id)?;
    }
    check_cycles(document)
}

/// All nodes, roots first.
fn ids(document: &Document) -> impl Iterator<Item = NodeId> {
    let lists = [
        (NodeKind::Body, 1),
        (NodeKind::Furniture, 1),
        (NodeKind::Group, document.groups.len()),
        (NodeKind::Text, document.texts.len()),
        (NodeKind::Picture, document.pictures.len()),
        (NodeKind::Table, document.tables.len()),
        (NodeKind::KeyValue, document.key_value_items.len()),
        (NodeKind::Form, document.form_items.len()),
        (NodeKind::FieldRegion, document.field_regions.len()),
        (NodeKind::FieldItem, document.field_items.len()),
    ];
    lists.into_iter().flat_map(|(kind, count)| (0..count).map(move |index| NodeId::new(kind, index)))
}

fn check_tables(document: &Document) -> Result<(), DocumentError> {
    let mut total = 0;
    for (index, table) in document.tables.iter().enumerate() {
        let at = NodeId::new(NodeKind::Table, index);
        let (rows, columns) = (table.data.num_rows, table.data.num_cols);
        let cells = (u64::from(rows) * u64::from(columns)).max(table.data.table_cells.len() as u64);
        if cells > MAX_TABLE_CELLS {
            return Err(DocumentError::TableCells { at, cells, limit: MAX_TABLE_CELLS });
        }
        total += cells;
        if total > MAX_TOTAL_CELLS {
            return Err(DocumentError::TotalCells(MAX_TOTAL_CELLS));
        }
        let outside = table
            .data
            .table_cells
            .iter()
            .find(|cell| cell.end_row_offset_idx > rows || cell.end_col_offset_idx > columns);
        if let Some(cell) = outside {
            let (row, column) = (cell.end_row_offset_idx, cell.end_col_offset_idx);
            return Err(DocumentError::CellOutside { at, row, column, rows, columns });
        }
    }
    Ok(())
}

fn check_references(document: &Document, from: NodeId) -> Result<(), DocumentError> {
    let Some(node) = document.node(from) else { return Ok(()) };
    if node.self_ref != from {
        return Err(DocumentError::SelfRef { at: from, says: node.self_ref });
    }
    let comments = match from.kind {
        NodeKind::Text => document.texts[from.position()].comments.as_deref(),
        NodeKind::Table => document.tables[from.position()].comments.as_deref(),
        _ => None,
    };
    let beside = node.parent.iter().chain(comments.into_iter().flatten()).map(|other| other.to);
    for to in below(document, from).into_iter().chain(beside) {
        if document.node(to).is_none() {
            return Err(DocumentError::Dangling { from, to });
        }
    }
    Ok(())
}

/// The nodes that a writer reaches from one node.
fn below(document: &Document, id: NodeId) -> Vec<NodeId> {
    let mut found: Vec<NodeId> = document.children(id).collect();
    let index = id.position();
    let mut add = |refs: &[Ref]| found.extend(refs.iter().map(|other| other.to));
    match id.kind {
        NodeKind::Text => {
            let text = &document.texts[index];
            for refs in [&text.captions, &text.references, &text.footnotes].into_iter().flatten() {
                add(refs);
            }
        }
        NodeKind::Picture => {
            let picture = &document.pictures[index];
            add(&picture.captions);
            add(&picture.references);
            add(&picture.footnotes);
        }
        NodeKind::Table => {
            let table = &document.tables[index];
            add(&table.captions);
            add(&table.references);
            add(&table.footnotes);
            found.extend(table.data.table_cells.iter().filter_map(|cell| Some(cell.content.as_ref()?.to)));
        }
        _ => {}
    }
    found
}

/// Walks depth first without recursion. A node that is still open when it is met again closes a
/// cycle. The height of a node is the longest way down from it.
fn check_cycles(document: &Document) -> Result<(), DocumentError> {
    enum State {
        Open,
        Height(usize),
    }
    let mut states: HashMap<NodeId, State> = HashMap::new();
    for start in ids(document) {
        if states.contains_key(&start) {
            continue;
        }
        states.insert(start, State::Open);
        let mut path = vec![(start, below(document, start).into_iter(), 1)];
        while let Some((id, rest, height)) = path.last_mut() {
            if *height > MAX_DEPTH {
                return Err(DocumentError::Depth(MAX_DEPTH));
            }
            let Some(next) = rest.next() else {
                let (id, height) = (*id, *height);
                states.insert(id, State::Height(height));
                path.pop();
                if let Some((_, _, above)) = path.last_mut() {
                    *above = (height + 1).max(*above);
                }
                continue;
            };
            match states.get(&next) {
                Some(State::Open) => return Err(DocumentError::Cycle(next)),
                Some(State::Height(below)) => *height = (below + 1).max(*height),
                None => {
                    states.insert(next, State::Open);
                    path.push((next, below(document, next).into_iter(), 1));
                }
            }
        }
    }
    Ok(())
}
