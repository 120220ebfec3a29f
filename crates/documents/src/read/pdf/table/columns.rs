//! Rows and columns that only the position of words shows.

use super::rules::Rule;
use crate::read::pdf::{cells::Line, lists};
use std::ops::Range;

/// Words that stand side by side, from left to right.
#[derive(Debug, Clone)]
pub(super) struct VisualRow {
    pub(super) top: f32,
    pub(super) bottom: f32,
    pub(super) words: Vec<Line>,
}

/// The words of a row in one column.
#[derive(Debug, Clone)]
pub(super) struct RowCell<'w> {
    pub(super) column: usize,
    pub(super) words: Vec<&'w Line>,
}

/// Space between words that is no blank, in heights of a line; blanks of justified text are
/// smaller.
const WIDE_SPACE: f32 = 0.7;
/// Space between words, in heights of a line.
const SPACE: f32 = 0.25;
/// Space between the edge of a cell and its text, in heights of a line.
pub(super) const PADDING: f32 = 0.5;
/// Smallest space between two columns, in heights of a line.
const MIN_GUTTER: f32 = 0.5;
/// Smallest space between two columns whose text begins or ends at it, in heights of a line.
const NARROW_GUTTER: f32 = 0.08;
/// Words are closer than the columns of a table in so many rows only by chance.
const NARROW_ROWS: usize = 5;
/// Error of positions, in points.
const ROUNDING: f32 = 0.1;
/// Of this many rows, one may cross the space between two columns.
const CROSSED_ONCE_IN: usize = 10;
/// Rows whose distances differ by this part of a line's height are of two kinds.
const TWO_KINDS: f32 = 0.3;
/// Share of a column's width that a line may miss and still be full.
const FULL: f32 = 0.95;

impl VisualRow {
    fn of(mut words: Vec<Line>) -> Self {
        words.sort_by(|a, b| a.bounds[0].total_cmp(&b.bounds[0]));
        let top = words.iter().map(|word| word.bounds[1]).fold(f32::INFINITY, f32::min);
        let bottom = words.iter().map(|word| word.bounds[3]).fold(f32::NEG_INFINITY, f32::max);
        Self { top, bottom, words }
    }

    pub(super) fn height(&self) -> f32 {
        self.bottom - self.top
    }

    /// True if a wide space parts its words, other than that after the marker of a list item.
    pub(super) fn is_parted(&self) -> bool {
        let wide = WIDE_SPACE * self.height();
        let first = usize::from(self.words.first().is_some_and(|word| lists::is_marker(&word.text)));
        self.words[first..].windows(2).any(|pair| pair[1].bounds[0] - pair[0].bounds[2] > wide)
    }

    /// The room for another word in a line of this width.
    pub(super) fn room(&self, width: f32) -> f32 {
        let right = self.words.last().map_or(0.0, |word| word.bounds[2]);
        let left = self.words.first().map_or(0.0, |word| word.bounds[0]);
        FULL * width - (right - left) - SPACE * self.height()
    }

    /// True if a wide space between two words of this range lies over this place.
    pub(super) fn is_parted_at(&self, at: f32, range: &Range<f32>) -> bool {
        let wide = WIDE_SPACE * self.height();
        let inside = |word: &&Line| range.contains(&f32::midpoint(word.bounds[0], word.bounds[2]));
        let words: Vec<&Line> = self.words.iter().filter(inside).collect();
        let mut spaces = words.windows(2).map(|pair| (pair[0].bounds[2], pair[1].bounds[0]));
        spaces.any(|(left, right)| left <= at && at <= right && right - left > wide)
    }

    /// True if a word of the row lies over this place.
    pub(super) fn crosses(&self, at: f32) -> bool {
        self.words.iter().any(|word| word.bounds[0] < at && at < word.bounds[2])
    }

    /// The words of the row by columns.
    pub(super) fn cells(&self, columns: &[[f32; 2]]) -> Vec<RowCell<'_>> {
        let mut cells: Vec<RowCell<'_>> = Vec::new();
        for word in &self.words {
            let distance = |column: &[f32; 2]| {
                let middle = f32::midpoint(word.bounds[0], word.bounds[2]);
                (column[0] - middle).max(middle - column[1]).max(0.0)
            };
            let nearest = columns.iter().enumerate().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
            let Some((column, _)) = nearest else { continue };
            match cells.last_mut() {
                Some(cell) if cell.column == column => cell.words.push(word),
                _ => cells.push(RowCell { column, words: vec![word] }),
            }
        }
        cells
    }
}

impl RowCell<'_> {
    pub(super) fn left(&self) -> f32 {
        self.words.first().map_or(0.0, |word| word.bounds[0])
    }

    pub(super) fn right(&self) -> f32 {
        self.words.last().map_or(0.0, |word| word.bounds[2])
    }

    fn first_width(&self) -> f32 {
        self.words.first().map_or(0.0, |word| word.bounds[2] - word.bounds[0])
    }
}

/// Words by rows from top to bottom.
pub(super) fn visual_rows(mut words: Vec<Line>) -> Vec<VisualRow> {
    let middle = |word: &Line| f32::midpoint(word.bounds[1], word.bounds[3]);
    words.sort_by(|a, b| middle(a).total_cmp(&middle(b)));
    let mut rows: Vec<Vec<Line>> = Vec::new();
    for word in words {
        let same = rows.last().and_then(|row| row.last()).is_some_and(|last| {
            let overlap = last.bounds[3].min(word.bounds[3]) - last.bounds[1].max(word.bounds[1]);
            let smaller = (last.bounds[3] - last.bounds[1]).min(word.bounds[3] - word.bounds[1]);
            overlap > smaller / 2.0
        });
        match rows.last_mut() {
            Some(row) if same => row.push(word),
            _ => rows.push(vec![word]),
        }
    }
    rows.into_iter().map(VisualRow::of).collect()
}

/// Left and right edge of the text of each column: columns are parted by spaces that almost no row
/// crosses.
pub(super) fn columns(rows: &[VisualRow]) -> Vec<[f32; 2]> {
    let crossing = i32::try_from(rows.len() / CROSSED_ONCE_IN).unwrap_or(i32::MAX);
    let (strict, crossed) = (columns_crossed(rows, 0), columns_crossed(rows, crossing));
    if crossed.len() > strict.len() { crossed } else { strict }
}

/// The columns if so many rows may cross the space between them.
fn columns_crossed(rows: &[VisualRow], crossing: i32) -> Vec<[f32; 2]> {
    let mut edges: Vec<(f32, i32)> = Vec::new();
    for word in rows.iter().flat_map(|row| &row.words) {
        edges.extend([(word.bounds[0], 1), (word.bounds[2], -1)]);
    }
    edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let mut columns: Vec<[f32; 2]> = Vec::new();
    let mut covered = 0;
    for (at, change) in edges {
        let before = covered;
        covered += change;
        if before <= crossing && covered > crossing {
            match columns.last() {
                Some(last) if !is_gutter([last[1], at], rows) => {}
                _ => columns.push([at, at]),
            }
        } else if before > crossing
            && covered <= crossing
            && let Some(last) = columns.last_mut()
        {
            last[1] = at;
        }
    }
    columns
}

/// True if a space that no row crosses parts columns. A narrow one does so only if most rows begin
/// or end at it, and not if the words before it are all the same, as signs of currency are.
fn is_gutter([left, right]: [f32; 2], rows: &[VisualRow]) -> bool {
    let height = median_height(rows);
    if right - left >= MIN_GUTTER * height {
        return true;
    }
    if right - left < NARROW_GUTTER * height || rows.len() < 2 {
        return false;
    }
    let near = |a: f32, b: f32| (a - b).abs() < SPACE * height;
    let begin = |row: &&VisualRow| row.words.iter().any(|word| near(word.bounds[0], right));
    let end = |row: &&VisualRow| row.words.iter().any(|word| near(word.bounds[2], left));
    let is_edge = rows.iter().filter(begin).count() * 2 >= rows.len()
        || rows.iter().filter(end).count() * 2 >= rows.len();
    let mut before = rows.iter().filter_map(|row| {
        let word = row.words.iter().rfind(|word| word.bounds[2] <= left + ROUNDING)?;
        let next = row.words.iter().find(|word| word.bounds[0] >= right - ROUNDING)?;
        (next.bounds[0] - word.bounds[2] < height).then_some(word.text.as_str())
    });
    let Some(first) = before.next() else { return is_edge };
    rows.len() >= NARROW_ROWS && is_edge && before.any(|text| text != first)
}

pub(super) fn median_height(rows: &[VisualRow]) -> f32 {
    let mut heights: Vec<f32> = rows.iter().map(VisualRow::height).collect();
    heights.sort_by(f32::total_cmp);
    heights.get(heights.len() / 2).copied().unwrap_or(0.0)
}

/// The places between columns.
pub(super) fn gutters(columns: &[[f32; 2]]) -> impl Iterator<Item = f32> + '_ {
    columns.windows(2).map(|pair| f32::midpoint(pair[0][1], pair[1][0]))
}

/// Puts rows together that are the lines of one row of a table; each is a range of `rows`.
pub(super) fn table_rows(rows: &[VisualRow], columns: &[[f32; 2]], rules: &[Rule]) -> Vec<Range<usize>> {
    let ruled: Vec<bool> = rows.windows(2).map(|pair| is_ruled(pair, columns, rules)).collect();
    let gaps: Vec<f32> = rows.windows(2).map(|pair| pair[1].top - pair[0].bottom).collect();
    let smallest = gaps.iter().copied().fold(f32::INFINITY, f32::min);
    let largest = gaps.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let is_far = |gap: &f32| *gap > f32::midpoint(smallest, largest);
    let by_distance = largest - smallest > TWO_KINDS * median_height(rows);
    let far_gaps = gaps.iter().filter(|gap| is_far(gap)).count();
    // Wide distances part all rows, unless they are below a header or between groups of rows only.
    let full = rows.iter().filter(|row| row.cells(columns).len() == columns.len()).count();
    let only_distance = by_distance && far_gaps > 1 && (far_gaps + 1) * 3 >= full * 2;
    let widths = widths(rows, columns);
    let mut found: Vec<Range<usize>> = Vec::new();
    for index in 0..rows.len() {
        let continues = found.last().is_some_and(|range| {
            let far = by_distance && is_far(&gaps[index - 1]);
            let near =
                only_distance || is_continued(&rows[range.start..index], &rows[index], columns, &widths);
            near && !far && !ruled[index - 1]
        });
        join(&mut found, index, continues);
    }
    let lines = ruled.iter().filter(|ruled| **ruled).count();
    if lines < 2 || lines * 2 < found.len() {
        return found;
    }
    // A line is below every row.
    let mut found = Vec::new();
    for index in 0..rows.len() {
        join(&mut found, index, index > 0 && !ruled[index - 1]);
    }
    found
}

fn join(found: &mut Vec<Range<usize>>, index: usize, continues: bool) {
    match found.last_mut() {
        Some(range) if continues => range.end = index + 1,
        _ => found.push(index..index + 1),
    }
}

/// True if a line is drawn between two rows, over most of the table.
fn is_ruled(pair: &[VisualRow], columns: &[[f32; 2]], rules: &[Rule]) -> bool {
    let middle = |row: &VisualRow| f32::midpoint(row.top, row.bottom);
    let (left, right) = (columns[0][0], columns[columns.len() - 1][1]);
    rules.iter().any(|rule| {
        let covered = rule.to.min(right) - rule.from.max(left);
        middle(&pair[0]) < rule.at && rule.at < middle(&pair[1]) && covered * 2.0 > right - left
    })
}

/// True if every cell of `next` goes on with a cell whose last line had no room for another word.
fn is_continued(row: &[VisualRow], next: &VisualRow, columns: &[[f32; 2]], widths: &[f32]) -> bool {
    let (Some(first), Some(last)) = (row.first(), row.last()) else { return false };
    let (above, cells) = (last.cells(columns), next.cells(columns));
    if cells.len() >= first.cells(columns).len() {
        return false;
    }
    let space = SPACE * last.height();
    cells.iter().all(|cell| {
        let above = above.iter().find(|above| above.column == cell.column);
        above.is_some_and(|above| {
            above.right() - above.left() + space + cell.first_width() > FULL * widths[cell.column]
        })
    })
}

/// The room for text in each column. The edge of a column is where the text of the next one begins,
/// if that begins alike in all rows, and in the middle of the space between both if not.
pub(super) fn widths(rows: &[VisualRow], columns: &[[f32; 2]]) -> Vec<f32> {
    let padding = PADDING * median_height(rows);
    let by_row: Vec<Vec<RowCell<'_>>> = rows.iter().map(|row| row.cells(columns)).collect();
    let begins_alike = |column: usize| {
        let lefts = by_row.iter().flatten().filter(|cell| cell.column == column).map(RowCell::left);
        let (mut count, mut alike) = (0, 0);
        for left in lefts {
            count += 1;
            alike += usize::from(left - columns[column][0] < padding / 2.0);
        }
        alike * 2 > count
    };
    let mut edges = vec![columns[0][0] - padding];
    for (index, pair) in columns.windows(2).enumerate() {
        let middle = f32::midpoint(pair[0][1], pair[1][0]);
        let before_text = (pair[1][0] - padding).max(middle);
        edges.push(if begins_alike(index + 1) { before_text } else { middle });
    }
    edges.push(columns[columns.len() - 1][1] + padding);
    edges.windows(2).map(|pair| pair[1] - pair[0] - 2.0 * padding).collect()
}

/// The text of lines. An office program divides words only at the hyphens that they have.
pub(super) fn text(lines: &[VisualRow]) -> String {
    let mut text = String::new();
    for line in lines {
        for (index, word) in line.words.iter().enumerate() {
            if !text.is_empty() && (index > 0 || !text.ends_with('-')) {
                text.push(' ');
            }
            text.push_str(&word.text);
        }
    }
    text
}
