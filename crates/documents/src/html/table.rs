//! Writes tables.

use super::{Writer, direction, escape_quoted, wrap};
use crate::write::{Scope, Visited, grid::Grid};
use crate::{NodeId, TableCell, TableData};

impl Writer<'_> {
    pub(super) fn table(&self, id: NodeId, visited: &mut Visited) -> String {
        let table = &self.document.tables[id.position()];
        let captions = self.captions(&table.captions, "caption", visited);
        let body = if self.tree.excluded.contains(&id) {
            String::new()
        } else {
            body(&table.data, &mut |cell| match &cell.content {
                Some(content) => self.node(content.to, Scope::default(), visited),
                None => escape_quoted(cell.text.trim()),
            })
        };
        wrap(captions + &body, "<table>", "</table>")
    }
}

/// The rows of a table; `content` gives the HTML of a cell.
pub(super) fn body(data: &TableData, content: &mut dyn FnMut(&TableCell) -> String) -> String {
    let mut rows = String::new();
    for (row, slots) in Grid::new(data).rows().enumerate() {
        rows.push_str("<tr>");
        for (column, slot) in slots.iter().enumerate() {
            let Some(cell) = slot else {
                rows.push_str("<td></td>");
                continue;
            };
            let starts =
                cell.start_row_offset_idx as usize == row && cell.start_col_offset_idx as usize == column;
            if starts {
                let content = content(cell);
                rows.push_str(&element(cell, &content));
            }
        }
        rows.push_str("</tr>");
    }
    wrap(rows, "<tbody>", "</tbody>")
}

fn element(cell: &TableCell, content: &str) -> String {
    let is_header = cell.column_header || cell.row_header || cell.row_section;
    let tag = if is_header { "th" } else { "td" };
    let span = |name: &str, span: u32| match span {
        0 | 1 => String::new(),
        _ => format!(" {name}=\"{span}\""),
    };
    let (rows, columns) = (span("rowspan", cell.row_span), span("colspan", cell.col_span));
    format!("<{tag}{rows}{columns}{}>{content}</{tag}>", direction(content))
}
