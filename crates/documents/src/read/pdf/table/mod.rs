//! Tables of pages, found by ruling lines and by the position of words.

mod aligned;
mod columns;
mod continued;
mod from_unpdf;
mod grid;
mod placed;
mod ruled;
mod rules;

use super::cells::Line;
use crate::{Extra, TableCell, TableData};

pub(super) use continued::{join as join_continued, settle_rows};
pub(super) use placed::place;
pub(super) use rules::PageRules;

/// A table with its place on a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FoundTable {
    /// Left, top, right and bottom, from the top of the page.
    pub(super) bounds: [f32; 4],
    /// Edges of columns, from left to right; empty if they are not known.
    edges: Vec<f32>,
    rows: usize,
    columns: usize,
    /// Rows of the header.
    headers: usize,
    standing: Standing,
    cells: Vec<FoundCell>,
}

/// What a table is without the pages beside its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Table,
    /// One row at the top or the bottom of a page: a table only if another page has more of it.
    Row,
}

/// A cell with its first row and column, and the number of rows and columns that it spans.
#[derive(Debug, Clone, PartialEq)]
struct FoundCell {
    row: usize,
    column: usize,
    rows: usize,
    columns: usize,
    text: String,
    /// The width of its first word, and the room for another word in its last line.
    first_word: f32,
    room: f32,
}

/// The tables of a page from top to bottom.
pub(super) fn find(rules: &PageRules, words: &[Line], page_height: f32) -> Vec<FoundTable> {
    let mut tables = ruled::find(rules, words);
    let taken: Vec<[f32; 4]> = tables.iter().map(|table| table.bounds).collect();
    let free = words.iter().filter(|word| !taken.iter().any(|bounds| contains(*bounds, word.bounds)));
    let margin = super::furniture::MARGIN * page_height;
    let aligned =
        aligned::find(free.cloned().collect(), &taken, &rules.horizontal, &(margin..page_height - margin));
    tables.extend(aligned);
    tables.sort_by(|a, b| a.bounds[1].total_cmp(&b.bounds[1]));
    tables
}

impl FoundTable {
    pub(super) fn data(&self) -> TableData {
        let index = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let cells = self.cells.iter().map(|cell| TableCell {
            bbox: None,
            row_span: index(cell.rows),
            col_span: index(cell.columns),
            start_row_offset_idx: index(cell.row),
            end_row_offset_idx: index(cell.row + cell.rows),
            start_col_offset_idx: index(cell.column),
            end_col_offset_idx: index(cell.column + cell.columns),
            text: cell.text.clone(),
            // A table has at least a header row for its readers.
            column_header: cell.row < self.headers.max(1),
            row_header: false,
            row_section: false,
            fillable: false,
            content: None,
            extra: Extra::new(),
        });
        TableData::new(index(self.rows), index(self.columns), cells.collect())
    }
}

impl FoundCell {
    /// A cell with these words, whose lines can have this width.
    fn of(place: [usize; 4], words: Vec<Line>, width: f32) -> Self {
        let [row, column, rows, columns] = place;
        let lines = columns::visual_rows(words);
        let first_word = lines.first().and_then(|line| line.words.first());
        let first_word = first_word.map_or(0.0, |word| word.bounds[2] - word.bounds[0]);
        let room = lines.last().map_or(width, |line| line.room(width));
        Self { row, column, rows, columns, text: columns::text(&lines), first_word, room }
    }
}

/// True if the middle of `inner` is in `outer`.
pub(super) fn contains(outer: [f32; 4], inner: [f32; 4]) -> bool {
    within(outer, f32::midpoint(inner[0], inner[2]), f32::midpoint(inner[1], inner[3]))
}

fn within([left, top, right, bottom]: [f32; 4], x: f32, y: f32) -> bool {
    left <= x && x <= right && top <= y && y <= bottom
}

fn words_within(words: &[Line], bounds: [f32; 4]) -> Vec<Line> {
    words.iter().filter(|word| contains(bounds, word.bounds)).cloned().collect()
}

#[cfg(test)]
mod tests;
