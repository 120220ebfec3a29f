//! Joins the parts of a table that goes on over several pages.

use super::{FoundCell, FoundTable, Standing};
use crate::read::pdf::{Kind, PdfBlock};

/// Edges of columns on both pages differ by less, in points.
const SAME_EDGE: f32 = 6.0;
/// Rows that a page can repeat from the head of its table.
const MAX_REPEATED: usize = 3;
/// Blocks that the rest of a row at the top of a page can be.
const MAX_RESTS: usize = 4;
/// Error of positions, in points.
const ROUNDING: f32 = 1.0;

/// Keeps single rows that go on with a table of the page before or after. The others become the
/// blocks again in whose place they stand.
pub(in crate::read::pdf) fn settle_rows(blocks: &mut Vec<PdfBlock>) {
    let kept: Vec<bool> = (0..blocks.len()).map(|index| is_kept(blocks, index)).collect();
    for (block, is_kept) in std::mem::take(blocks).into_iter().zip(kept) {
        if is_kept { blocks.push(block) } else { blocks.extend(block.replaced) }
    }
}

fn is_kept(blocks: &[PdfBlock], index: usize) -> bool {
    let block = &blocks[index];
    let Kind::Table(row) = &block.kind else { return true };
    let before = blocks[..index].iter().rev().find(|other| !other.is_in_margin());
    let after = blocks[index + 1..].iter().find(|other| !other.is_in_margin());
    let table = |other: Option<&PdfBlock>, page: u32| match other {
        Some(PdfBlock { kind: Kind::Table(table), page: found, .. }) if *found == page => Some(table.clone()),
        _ => None,
    };
    row.standing == Standing::Table
        || table(before, block.page - 1).is_some_and(|table| table.goes_on_in(row))
        || table(after, block.page + 1).is_some_and(|table| row.goes_on_in(&table))
}

/// Joins a table that ends a page with the one that begins the next page.
pub(in crate::read::pdf) fn join(blocks: &mut Vec<PdfBlock>) {
    let mut joined: Vec<PdfBlock> = Vec::new();
    // The last table with the page that it ends on, as long as nothing but furniture follows.
    let mut open: Option<(usize, u32)> = None;
    let mut waiting = std::collections::VecDeque::from(std::mem::take(blocks));
    while let Some(block) = waiting.pop_front() {
        if block.furniture.is_some() {
            joined.push(block);
            continue;
        }
        let first = open.filter(|(_, page)| block.page == page + 1);
        let next = waiting.iter().take(MAX_RESTS).find_map(|other| match &other.kind {
            Kind::Table(table) if other.page == block.page => Some(table),
            _ => None,
        });
        if let (Some((at, _)), Some(next)) = (first, next)
            && let Some(column) = rest_of_row(&block, next)
            && let (Kind::Table(table), Kind::Text { text, .. }) = (&mut joined[at].kind, &block.kind)
            && table.goes_on_in(next)
            && table.add_to_last_row(column, text)
        {
            continue;
        }
        match (first, &block.kind) {
            (Some((at, page)), Kind::Table(next)) if continue_with(&mut joined[at], next) => {
                // More of the table can be below a row that was found alone.
                open = Some((at, if next.standing == Standing::Row { page } else { page + 1 }));
            }
            (_, Kind::Table(_)) => {
                open = Some((joined.len(), block.page));
                joined.push(block);
            }
            _ => {
                open = None;
                joined.push(block);
            }
        }
    }
    *blocks = joined;
}

/// The column of a text that stands alone above a table.
fn rest_of_row(block: &PdfBlock, next: &FoundTable) -> Option<usize> {
    let ([left, _, right, bottom], height) = (block.bounds?, block.line_height?);
    let mut columns = next.edges.windows(2);
    let column = columns.position(|edges| edges[0] - ROUNDING <= left && right <= edges[1] + ROUNDING)?;
    (bottom < next.bounds[1] + height).then_some(column)
}

fn continue_with(block: &mut PdfBlock, next: &FoundTable) -> bool {
    let Kind::Table(table) = &mut block.kind else { return false };
    if !table.goes_on_in(next) {
        return false;
    }
    table.append(next);
    true
}

impl FoundTable {
    /// True if both have the same columns.
    fn goes_on_in(&self, next: &Self) -> bool {
        let inner = 1..self.edges.len().min(next.edges.len()).saturating_sub(1);
        // Edges that only the text shows move with the text.
        let mut same = inner.into_iter().map(|index| {
            let [before, edge, after] = [index - 1, index, index + 1].map(|index| self.edges[index]);
            (edge - next.edges[index]).abs() < SAME_EDGE.max((edge - before).min(after - edge) / 3.0)
        });
        let is_table = self.standing == Standing::Table || next.standing == Standing::Table;
        is_table && self.columns == next.columns && same.all(|same| same)
    }

    fn row(&self, row: usize) -> impl Iterator<Item = &FoundCell> {
        self.cells.iter().filter(move |cell| cell.row == row && !cell.text.is_empty())
    }

    /// Appends the rows of the next page, without those that repeat the header.
    fn append(&mut self, next: &Self) {
        let texts = |table: &Self, row| table.row(row).map(|cell| cell.text.clone()).collect::<Vec<_>>();
        let is_repeated =
            |row: &usize| !texts(self, *row).is_empty() && texts(self, *row) == texts(next, *row);
        let mut from = (0..MAX_REPEATED.min(next.rows)).take_while(is_repeated).count();
        if self.is_divided(next, from) {
            for cell in next.row(from) {
                self.add_to_last_row(cell.column, &cell.text);
            }
            from += 1;
        }
        for cell in next.cells.iter().filter(|cell| cell.row >= from) {
            self.cells.push(FoundCell { row: cell.row - from + self.rows, ..cell.clone() });
        }
        self.rows += next.rows - from.min(next.rows);
        self.standing = Standing::Table;
    }

    /// True if the row of the next page goes on with our last row: each of its cells with one whose
    /// last line had no room for another word.
    fn is_divided(&self, next: &Self, row: usize) -> bool {
        let last = || self.row(self.rows - 1);
        let cells = next.row(row).count();
        let full = |cell: &FoundCell| {
            last().any(|above| above.column == cell.column && cell.first_word > above.room)
        };
        cells > 0 && cells < last().count() && next.row(row).all(full)
    }

    /// Adds text to a cell of the last row; false if that has none.
    fn add_to_last_row(&mut self, column: usize, text: &str) -> bool {
        let last = self.rows - 1;
        let mut cells = self.cells.iter_mut();
        let cell = cells.find(|cell| cell.row == last && cell.column == column && !cell.text.is_empty());
        let Some(cell) = cell else { return false };
        if !cell.text.ends_with('-') {
            cell.text.push(' ');
        }
        cell.text.push_str(text);
        true
    }
}
