//! Turns tables of `unpdf` into ours.

use crate::{Extra, TableCell, TableData};
use unpdf::Table;

/// The cells of a table; nothing if it has none.
pub(super) fn data(table: &Table) -> Option<TableData> {
    let columns = table.cell_columns();
    let mut cells = Vec::new();
    let (mut last_row, mut last_column) = (0, 0);
    // A table has at least a header row for its readers.
    let headers = usize::from(table.header_rows).max(1);
    for (row, (cells_of_row, columns)) in table.rows.iter().zip(columns).enumerate() {
        for (cell, column) in cells_of_row.cells.iter().zip(columns) {
            let rows = usize::from(cell.rowspan.max(1)).min(table.rows.len() - row);
            let wide = usize::from(cell.colspan.max(1));
            let index = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
            let text = cell.plain_text();
            cells.push(TableCell {
                bbox: None,
                row_span: index(rows),
                col_span: index(wide),
                start_row_offset_idx: index(row),
                end_row_offset_idx: index(row + rows),
                start_col_offset_idx: index(column),
                end_col_offset_idx: index(column + wide),
                text: text.split_whitespace().collect::<Vec<_>>().join(" "),
                column_header: row < headers,
                row_header: false,
                row_section: false,
                fillable: false,
                content: None,
                extra: Extra::new(),
            });
            last_row = last_row.max(index(row + rows));
            last_column = last_column.max(index(column + wide));
        }
    }
    (!cells.is_empty()).then(|| TableData::new(last_row, last_column, cells))
}
