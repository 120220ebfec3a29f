//! The grid of a ruled table.

use super::columns::{self, VisualRow};
use super::rules::{PageRules, Rule};
use super::{FoundCell, FoundTable, Standing, words_within};
use crate::read::pdf::cells::Line;
use std::ops::Range;

/// Positions that are this close are one edge, in points.
const SAME_EDGE: f32 = 3.0;
/// Share of a cell's side that must be drawn.
const DRAWN: f32 = 0.6;
/// A grid with more cells is a drawing.
const MAX_CELLS: usize = 100_000;
/// A header is closer to the first line of its table, in heights of a line.
const HEADER_GAP: f32 = 1.2;
/// Rows of a table that are too few to show where its lines are missing as a rule.
const FEW_ROWS: usize = 3;
/// A table with more ruled rows has a line below each of its rows.
const UNRULED_ROWS: usize = 2;

/// Edges of rows and columns, and the sides of cells that are drawn.
pub(super) struct Grid {
    /// Edges of columns, from left to right.
    across: Vec<f32>,
    /// Edges of rows, from top to bottom.
    down: Vec<f32>,
    /// For each row and each column: true if the right side of the cell is drawn.
    right: Vec<Vec<bool>>,
    /// For each row and each column: true if the lower side of the cell is drawn.
    below: Vec<Vec<bool>>,
    words: Vec<Line>,
}

impl Grid {
    /// The grid of lines that meet; nothing if they enclose no two cells.
    pub(super) fn of_rules(rules: &PageRules, words: &[Line]) -> Option<Self> {
        let across = edges(&rules.vertical, &rules.horizontal);
        let mut down = edges(&rules.horizontal, &rules.vertical);
        let is_framed = |at: &f32| drawn(&rules.vertical, *at, [down[0], down[down.len() - 1]]);
        if across.len() > 2
            && down.len() > 1
            && !(is_framed(&across[0]) && is_framed(&across[across.len() - 1]))
        {
            down.splice(0..0, header_top(words, &across, down[0]));
        }
        if across.len() < 2 || down.len() < 2 || across.len() * down.len() > MAX_CELLS {
            return None;
        }
        let words = words_within(words, [across[0], down[0], across[across.len() - 1], down[down.len() - 1]]);
        let mut grid = Self { across, down, right: Vec::new(), below: Vec::new(), words };
        let sides = |grid: &Self, is_drawn: &dyn Fn(usize, usize) -> bool| {
            let row = |row| (0..grid.columns()).map(|column| is_drawn(row, column)).collect();
            (0..grid.rows()).map(row).collect::<Vec<Vec<bool>>>()
        };
        grid.right = sides(&grid, &|row, column| {
            drawn(&rules.vertical, grid.across[column + 1], [grid.down[row], grid.down[row + 1]])
        });
        grid.below = sides(&grid, &|row, column| {
            drawn(&rules.horizontal, grid.down[row + 1], [grid.across[column], grid.across[column + 1]])
        });
        if grid.columns() < 2 || !grid.parts_columns() {
            return None;
        }
        grid.add_rows();
        grid.part_unruled_columns();
        grid.part_unruled_rows();
        Some(grid)
    }

    fn rows(&self) -> usize {
        self.down.len() - 1
    }

    fn columns(&self) -> usize {
        self.across.len() - 1
    }

    fn bounds(&self) -> [f32; 4] {
        [self.across[0], self.down[0], self.across[self.columns()], self.down[self.rows()]]
    }

    /// Parts cells where a wide space parts their words, and at edges that few rows draw: there, a
    /// missing line does not tell of a merged cell.
    fn part_unruled_columns(&mut self) {
        let lines = columns::visual_rows(self.words.clone());
        for column in 0..self.columns() - 1 {
            let drawn = self.right.iter().filter(|sides| sides[column]).count();
            // Every second row of some styles has lines; a few rows tell nothing.
            let is_ruled = drawn * 2 > self.rows() || drawn > 0 && self.rows() <= FEW_ROWS;
            let at = self.across[column + 1];
            for row in 0..self.rows() {
                let band = self.down[row]..self.down[row + 1];
                let inside = |line: &&VisualRow| band.contains(&f32::midpoint(line.top, line.bottom));
                let mut inside = lines.iter().filter(inside);
                self.right[row][column] |= if is_ruled {
                    inside.any(|line| line.is_parted_at(at, &self.merged_range(row, column)))
                } else {
                    inside.all(|line| !line.crosses(at))
                };
            }
        }
    }

    /// The place between the next drawn sides on the left and on the right of a cell's right side.
    fn merged_range(&self, row: usize, column: usize) -> Range<f32> {
        let sides = &self.right[row];
        let first = sides[..column].iter().rposition(|side| *side).map_or(0, |before| before + 1);
        let last =
            sides[column + 1..].iter().position(|side| *side).map_or(sides.len(), |after| column + 2 + after);
        self.across[first]..self.across[last]
    }

    /// Parts cells at edges that few columns draw.
    fn part_unruled_rows(&mut self) {
        for row in 0..self.rows() - 1 {
            let drawn = self.below[row].iter().filter(|side| **side).count();
            if drawn * 2 >= self.columns() {
                continue;
            }
            let edge = self.down[row + 1];
            let crosses = |word: &&Line| word.bounds[1] < edge && edge < word.bounds[3];
            for column in 0..self.columns() {
                let columns = self.across[column]..self.across[column + 1];
                let mut crossing = self.words.iter().filter(crosses);
                self.below[row][column] |=
                    !crossing.any(|word| columns.contains(&f32::midpoint(word.bounds[0], word.bounds[2])));
            }
        }
    }

    /// False if the text of a column stands in columns itself: then lines part only some of them.
    fn parts_columns(&self) -> bool {
        self.across.windows(2).all(|pair| {
            let area = [pair[0], self.down[0], pair[1], self.down[self.rows()]];
            let rows = columns::visual_rows(words_within(&self.words, area));
            rows.iter().filter(|row| row.is_parted()).count() < 2 || columns::columns(&rows).len() < 2
        })
    }

    /// Adds rows that only the text shows, where lines part no more than a header and a body.
    fn add_rows(&mut self) {
        if self.rows() > UNRULED_ROWS || self.columns() < 2 {
            return;
        }
        for row in (0..self.rows()).rev() {
            let band = [self.across[0], self.down[row], self.across[self.columns()], self.down[row + 1]];
            let lines = columns::visual_rows(words_within(&self.words, band));
            let padding = columns::PADDING * columns::median_height(&lines);
            let mut texts: Vec<[f32; 2]> = self.across.windows(2).map(|pair| [pair[0], pair[1]]).collect();
            texts[0][0] += padding;
            texts[self.columns() - 1][1] -= padding;
            let full = lines.iter().filter(|line| line.cells(&texts).len() > 1).count();
            // Two lines can be the wrapped text of one row.
            if full < 3 {
                continue;
            }
            let found = columns::table_rows(&lines, &texts, &[]);
            for pair in found.windows(2).rev() {
                let at = f32::midpoint(lines[pair[0].end - 1].bottom, lines[pair[1].start].top);
                self.down.insert(row + 1, at);
                let right = self.right[row].clone();
                self.right.insert(row, right);
                self.below.insert(row, vec![true; self.columns()]);
            }
        }
    }

    /// The table, if at least two of its cells have text.
    pub(super) fn table(&self) -> Option<FoundTable> {
        let padding = columns::PADDING * columns::median_height(&columns::visual_rows(self.words.clone()));
        let mut taken = vec![vec![false; self.columns()]; self.rows()];
        let mut cells = Vec::new();
        for row in 0..self.rows() {
            for column in 0..self.columns() {
                if taken[row][column] {
                    continue;
                }
                let columns = self.columns_of_cell(row, column, &taken);
                let rows = self.rows_of_cell(row, column, columns);
                for line in &mut taken[row..row + rows] {
                    line[column..column + columns].fill(true);
                }
                let bounds = [
                    self.across[column],
                    self.down[row],
                    self.across[column + columns],
                    self.down[row + rows],
                ];
                let place = [row, column, rows, columns];
                let width = bounds[2] - bounds[0] - 2.0 * padding;
                cells.push(FoundCell::of(place, words_within(&self.words, bounds), width));
            }
        }
        let filled = cells.iter().filter(|cell| !cell.text.is_empty()).count();
        (filled > 1).then(|| FoundTable {
            bounds: self.bounds(),
            edges: self.across.clone(),
            rows: self.rows(),
            columns: self.columns(),
            headers: 1,
            standing: Standing::Table,
            cells,
        })
    }

    /// The number of columns up to the next side that is drawn.
    fn columns_of_cell(&self, row: usize, column: usize, taken: &[Vec<bool>]) -> usize {
        let mut end = column;
        while end + 1 < self.columns() && !self.right[row][end] && !taken[row][end + 1] {
            end += 1;
        }
        end - column + 1
    }

    /// The number of rows in which the cell goes on with the same sides.
    fn rows_of_cell(&self, row: usize, column: usize, columns: usize) -> usize {
        let last = column + columns - 1;
        let mut end = row;
        while end + 1 < self.rows() {
            let open = (column..=last).all(|column| !self.below[end][column]);
            let inner = (column..last).all(|column| !self.right[end + 1][column]);
            let left = column == 0 || self.right[end + 1][column - 1];
            let right = last + 1 == self.columns() || self.right[end + 1][last];
            if !(open && inner && left && right) {
                break;
            }
            end += 1;
        }
        end - row + 1
    }
}

/// The top of a header above the first line of a table without a frame: of rows that are close, and
/// whose words stand in its columns.
fn header_top(words: &[Line], across: &[f32], top: f32) -> Option<f32> {
    let area = [across[0], 0.0, across[across.len() - 1], top];
    let columns: Vec<[f32; 2]> = across.windows(2).map(|pair| [pair[0], pair[1]]).collect();
    let mut found = None;
    let mut below = top;
    for row in columns::visual_rows(words_within(words, area)).iter().rev() {
        let crossed = across[1..across.len() - 1].iter().any(|at| row.crosses(*at));
        let is_header = row.is_parted() && row.cells(&columns).len() > 1;
        if crossed || !is_header || below - row.bottom > HEADER_GAP * row.height() {
            break;
        }
        found = Some(row.top);
        below = row.top;
    }
    found
}

/// The edges that lines draw, and the ends of the lines across them where the side is open.
fn edges(lines: &[Rule], crossing: &[Rule]) -> Vec<f32> {
    let ends = crossing.iter().fold([f32::INFINITY, f32::NEG_INFINITY], |ends, line| {
        [ends[0].min(line.from), ends[1].max(line.to)]
    });
    let mut found: Vec<f32> = lines.iter().map(|line| line.at).collect();
    found.sort_by(f32::total_cmp);
    found.dedup_by(|next, last| *next - *last < SAME_EDGE);
    if found.first().is_some_and(|first| ends[0] < first - 2.0 * SAME_EDGE) {
        found.insert(0, ends[0]);
    }
    if found.last().is_some_and(|last| ends[1] > last + 2.0 * SAME_EDGE) {
        found.push(ends[1]);
    }
    found
}

/// True if lines at this position cover most of the range.
fn drawn(lines: &[Rule], at: f32, [from, to]: [f32; 2]) -> bool {
    let near = lines.iter().filter(|line| (line.at - at).abs() < SAME_EDGE);
    let covered: f32 = near.map(|line| (line.to.min(to) - line.from.max(from)).max(0.0)).sum();
    covered >= DRAWN * (to - from)
}
