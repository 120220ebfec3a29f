//! Tables without ruling lines: consecutive rows whose words stand in columns.

use super::columns::{self, RowCell, VisualRow};
use super::rules::Rule;
use super::{FoundCell, FoundTable, Standing};
use crate::read::pdf::{cells::Line, lists};
use std::ops::Range;

/// A page with more rows is not searched: each row is compared with those before it.
const MAX_ROWS: usize = 500;
/// Rows of a table are closer than this, in heights of a line.
const MAX_GAP: f32 = 1.6;
/// A wider space is no blank, in heights of a line.
const BLANK: f32 = 0.45;
/// Edges of a column's cells differ by less, in points.
const ALIGNED: f32 = 3.0;
/// Share of a column's cells whose edges must agree.
const ALIGNED_PERCENT: usize = 70;
/// Columns of prose have lines that fill this share of the column, with more words than a cell.
const PROSE_FILL: f32 = 0.8;
const PROSE_WORDS: usize = 4;

/// Finds tables among words that are in no other table. No table reaches over one of the `breaks`.
pub(super) fn find(
    words: Vec<Line>,
    breaks: &[[f32; 4]],
    rules: &[Rule],
    body: &Range<f32>,
) -> Vec<FoundTable> {
    let rows = columns::visual_rows(words);
    if rows.len() > MAX_ROWS {
        return Vec::new();
    }
    let mut tables = Vec::new();
    let (mut index, mut free) = (0, 0);
    while index < rows.len() {
        if !rows[index].is_parted() {
            index += 1;
            continue;
        }
        let end = region_end(&rows, index, breaks);
        if end == index + 1 {
            index = end;
            continue;
        }
        let start = region_start(&rows, free..index, end, breaks);
        tables.extend(table(&rows[start..end], rules));
        // What is left of a rejected region is no table either.
        (index, free) = (end, end);
    }
    tables.extend(outer_rows(&rows, breaks, body, &tables));
    tables
}

/// The first and the last row of the page, if they are in no table.
fn outer_rows(
    rows: &[VisualRow],
    breaks: &[[f32; 4]],
    body: &Range<f32>,
    tables: &[FoundTable],
) -> Vec<FoundTable> {
    let inside = |row: &&VisualRow| body.contains(&row.top);
    let (first, last) = (rows.iter().find(inside), rows.iter().rfind(inside));
    let taken = || breaks.iter().copied().chain(tables.iter().map(|table| table.bounds));
    let first = first.filter(|row| taken().all(|[_, top, ..]| row.bottom <= top)).and_then(row);
    let last = last.filter(|row| taken().all(|[.., bottom]| row.top >= bottom)).and_then(row);
    first.into_iter().chain(last).collect()
}

/// The end of the rows that can be one table with the row at `start`.
fn region_end(rows: &[VisualRow], start: usize, breaks: &[[f32; 4]]) -> usize {
    let mut end = start + 1;
    for candidate in start + 1..rows.len() {
        let row = &rows[candidate];
        if !are_close(&rows[candidate - 1], row, breaks) {
            break;
        }
        let (found, before) = (columns_of(&rows[start..=candidate]), columns_of(&rows[start..candidate]));
        // A line of prose closes most of the spaces between columns.
        if found.len() < 2 || found.len() * 3 < before.len() * 2 || !is_spaced(row, &found) {
            break;
        }
        // A row with one text ends no table, unless it is in a column where only cells stand.
        let cells = row.cells(&found);
        let lone_first = cells.len() == 1 && cells[0].column == 0;
        if !lone_first || wraps(&rows[start..=candidate], &found) {
            end = candidate + 1;
        }
    }
    end
}

/// The first of the rows above that belong to the table: rows whose words no wide space parts.
fn region_start(rows: &[VisualRow], above: Range<usize>, end: usize, breaks: &[[f32; 4]]) -> usize {
    let mut start = above.end;
    let found = columns::columns(&rows[start..end]);
    for index in above.rev() {
        let row = &rows[index];
        let cells = row.cells(&found).len();
        // The words of a header can be close if nothing else is.
        let is_alone = index == 0 || !are_close(&rows[index - 1], row, breaks);
        let spaced = is_spaced(row, &found) || is_alone && cells == found.len();
        if cells < 2 || !spaced || !are_close(row, &rows[index + 1], breaks) || !stands_in(row, &found) {
            break;
        }
        start = index;
    }
    start
}

fn are_close(row: &VisualRow, next: &VisualRow, breaks: &[[f32; 4]]) -> bool {
    let parted = breaks.iter().any(|[_, top, ..]| row.top < *top && *top < next.bottom);
    !parted && next.top - row.bottom <= MAX_GAP * row.height().max(next.height())
}

/// True if more than a blank parts the cells of a row somewhere.
fn is_spaced(row: &VisualRow, found: &[[f32; 2]]) -> bool {
    let cells = row.cells(found);
    let spaced = |pair: &[RowCell<'_>]| pair[1].left() - pair[0].right() > BLANK * row.height();
    cells.len() < 2 || cells.windows(2).any(spaced)
}

/// True if no word lies between columns, as those of a line of prose do.
fn stands_in(row: &VisualRow, found: &[[f32; 2]]) -> bool {
    let crossed = columns::gutters(found).filter(|at| row.crosses(*at)).count();
    crossed == 0 || crossed * 2 < found.len() - 1 && row.is_parted()
}

/// True if the last of these rows only goes on with a cell of the row before.
fn wraps(rows: &[VisualRow], found: &[[f32; 2]]) -> bool {
    columns::table_rows(rows, found, &[]).last().is_some_and(|last| last.len() > 1)
}

fn table(rows: &[VisualRow], rules: &[Rule]) -> Option<FoundTable> {
    let found = columns_of(rows);
    if found.len() < 2 {
        return None;
    }
    let grouped = columns::table_rows(rows, &found, rules);
    let is_table = grouped.len() > 1 && is_tabular(rows, &found);
    is_table.then(|| built(rows, &found, &grouped, Standing::Table))
}

/// The table of a single row, whose other rows may be on the page before or after.
fn row(row: &VisualRow) -> Option<FoundTable> {
    let rows = std::slice::from_ref(row);
    let found = columns::columns(rows);
    (row.is_parted() && found.len() > 1)
        .then(|| built(rows, &found, std::slice::from_ref(&(0..1)), Standing::Row))
}

fn built(rows: &[VisualRow], found: &[[f32; 2]], grouped: &[Range<usize>], standing: Standing) -> FoundTable {
    let widths = columns::widths(rows, found);
    let mut cells: Vec<FoundCell> = Vec::new();
    for (row, range) in grouped.iter().enumerate() {
        let mut words: Vec<Vec<Line>> = vec![Vec::new(); found.len()];
        for cell in rows[range.clone()].iter().flat_map(|row| row.cells(found)) {
            words[cell.column].extend(cell.words.into_iter().cloned());
        }
        let by_column = words.into_iter().enumerate();
        cells.extend(
            by_column.map(|(column, words)| FoundCell::of([row, column, 1, 1], words, widths[column])),
        );
    }
    let bounds = [found[0][0], rows[0].top, found[found.len() - 1][1], rows[rows.len() - 1].bottom];
    let mut edges: Vec<f32> = vec![bounds[0]];
    edges.extend(columns::gutters(found));
    edges.push(bounds[2]);
    FoundTable { bounds, edges, rows: grouped.len(), columns: found.len(), headers: 1, standing, cells }
}

/// The columns of a table. A header may be wider than the cells below, and close the space between
/// two columns.
fn columns_of(rows: &[VisualRow]) -> Vec<[f32; 2]> {
    let all = with_headers(columns::columns(rows), rows);
    let body = if rows.len() > 2 { columns::columns(&rows[1..]) } else { Vec::new() };
    if body.len() > all.len() { body } else { all }
}

/// Joins the column that a header alone has with the one beside it that has the cells.
fn with_headers(mut found: Vec<[f32; 2]>, rows: &[VisualRow]) -> Vec<[f32; 2]> {
    let mut index = 0;
    while index + 1 < found.len() {
        let filled = |column: usize| -> Vec<usize> {
            let has = |row: &VisualRow| row.cells(&found).iter().any(|cell| cell.column == column);
            rows.iter().enumerate().filter(|(_, row)| has(row)).map(|(index, _)| index).collect()
        };
        let (left, right) = (filled(index), filled(index + 1));
        // A header of two words is wider than the cells below it.
        let blank = found[index + 1][0] - found[index][1] < BLANK * rows[0].height();
        let both = left.contains(&0) && right.contains(&0);
        if (left == [0] || right == [0]) && (blank || !both) {
            found[index][1] = found[index + 1][1];
            found.remove(index + 1);
        } else {
            index += 1;
        }
    }
    found
}

/// True if the columns are those of a table: aligned, neither prose nor the markers of a list.
fn is_tabular(rows: &[VisualRow], found: &[[f32; 2]]) -> bool {
    let by_row: Vec<Vec<RowCell<'_>>> = rows.iter().map(|row| row.cells(found)).collect();
    if by_row.iter().filter(|cells| cells.len() > 1).count() < 2 {
        return false;
    }
    let mut prose = 0;
    for (index, column) in found.iter().enumerate() {
        let cells: Vec<&RowCell<'_>> = by_row.iter().flatten().filter(|cell| cell.column == index).collect();
        if cells.is_empty() || !is_aligned(&cells) || cells.iter().all(|cell| is_marker(cell)) {
            return false;
        }
        prose += usize::from(is_prose(&cells, *column));
    }
    prose < 2 || prose * 2 < found.len()
}

/// True if the edges or the middles agree. A header may be set in another way than the cells below.
fn is_aligned(cells: &[&RowCell<'_>]) -> bool {
    let cells = if cells.len() > 2 { &cells[1..] } else { cells };
    let agrees = |edge: &dyn Fn(&RowCell<'_>) -> f32| {
        let mut edges: Vec<f32> = cells.iter().map(|cell| edge(cell)).collect();
        edges.sort_by(f32::total_cmp);
        let median = edges[edges.len() / 2];
        let near = edges.iter().filter(|edge| (**edge - median).abs() < ALIGNED).count();
        near * 100 >= edges.len() * ALIGNED_PERCENT
    };
    agrees(&|cell| cell.left())
        || agrees(&|cell| cell.right())
        || agrees(&|cell| f32::midpoint(cell.left(), cell.right()))
}

fn is_prose(cells: &[&RowCell<'_>], [left, right]: [f32; 2]) -> bool {
    let full = |cell: &&&RowCell<'_>| {
        cell.right() - cell.left() > PROSE_FILL * (right - left) && cell.words.len() >= PROSE_WORDS
    };
    cells.len() > 2 && cells.iter().filter(full).count() * 2 > cells.len()
}

/// A bullet, or the number of a list item.
fn is_marker(cell: &RowCell<'_>) -> bool {
    matches!(cell.words.as_slice(), [word] if lists::is_marker(&word.text))
}
