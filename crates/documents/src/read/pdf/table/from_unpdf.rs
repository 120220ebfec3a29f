//! Turns tables of `unpdf` into ours.

use super::{FoundCell, FoundTable, Standing};

impl FoundTable {
    /// The cells of a table; nothing if it has none. Its place is not known.
    pub(in crate::read::pdf) fn of_unpdf(table: &unpdf::Table) -> Option<Self> {
        let mut found = Self {
            bounds: [0.0; 4],
            edges: Vec::new(),
            rows: table.rows.len(),
            columns: 0,
            headers: usize::from(table.header_rows),
            standing: Standing::Table,
            cells: Vec::new(),
        };
        for (row, (cells_of_row, columns)) in table.rows.iter().zip(table.cell_columns()).enumerate() {
            for (cell, column) in cells_of_row.cells.iter().zip(columns) {
                let rows = usize::from(cell.rowspan.max(1)).min(table.rows.len() - row);
                let columns = usize::from(cell.colspan.max(1));
                let text = cell.plain_text().split_whitespace().collect::<Vec<_>>().join(" ");
                let (first_word, room) = (0.0, f32::INFINITY);
                found.cells.push(FoundCell { row, column, rows, columns, text, first_word, room });
                found.columns = found.columns.max(column + columns);
            }
        }
        (!found.cells.is_empty()).then_some(found)
    }

    /// The texts of all cells.
    pub(in crate::read::pdf) fn text(&self) -> String {
        self.cells.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}
