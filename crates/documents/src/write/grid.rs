//! The cells of a table by position.

use crate::{TableCell, TableData};

/// A table as rows of slots; a cell is in every slot that it spans.
pub(crate) struct Grid<'a> {
    slots: Vec<Option<&'a TableCell>>,
    columns: usize,
}

impl<'a> Grid<'a> {
    pub(crate) fn new(data: &'a TableData) -> Self {
        let (rows, columns) = (data.num_rows as usize, data.num_cols as usize);
        let mut slots = vec![None; rows * columns];
        for cell in &data.table_cells {
            let columns_of =
                cell.start_col_offset_idx as usize..(cell.end_col_offset_idx as usize).min(columns);
            for row in cell.start_row_offset_idx as usize..(cell.end_row_offset_idx as usize).min(rows) {
                for column in columns_of.clone() {
                    slots[row * columns + column] = Some(cell);
                }
            }
        }
        Self { slots, columns }
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &[Option<&'a TableCell>]> {
        // A table without columns has no slots, and chunks of zero are not allowed.
        self.slots.chunks(self.columns.max(1))
    }

    /// The number of rows at the top that hold column headers.
    pub(crate) fn header_rows(&self, data: &TableData) -> usize {
        let first = data.table_cells.iter().map(|cell| cell.start_col_offset_idx).min().unwrap_or(0);
        let starting = |row: usize, slots: &[Option<&'a TableCell>]| -> Vec<&'a TableCell> {
            let here = slots.iter().flatten().copied();
            here.filter(|cell| cell.start_row_offset_idx as usize == row).collect()
        };
        let rows: Vec<Vec<&TableCell>> =
            self.rows().enumerate().map(|(row, slots)| starting(row, slots)).collect();
        // A header cell in the first column further down marks a column of row headers.
        let row_headers = rows
            .iter()
            .skip(1)
            .flatten()
            .any(|cell| cell.column_header && cell.start_col_offset_idx == first);
        let is_header = |(row, cells): &(usize, &Vec<&TableCell>)| {
            let body = (*row > 0 || row_headers)
                && cells.iter().any(|cell| {
                    !cell.column_header && !cell.text.trim().is_empty() && cell.start_col_offset_idx != first
                });
            cells.iter().any(|cell| cell.column_header) && !body
        };
        rows.iter().enumerate().take_while(is_header).count()
    }
}
