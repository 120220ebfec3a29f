//! Tables with ruling lines: a grid, and cells that are merged where no line is drawn.

use super::FoundTable;
use super::grid::Grid;
use super::rules::{PageRules, Rule};
use crate::read::pdf::cells::Line;

/// Lines that are this close meet, in points.
const TOUCHING: f32 = 3.0;
/// A page with more pairs of lines is a drawing.
const MAX_PAIRS: usize = 4_000_000;

/// Finds tables whose cells are parted by lines.
pub(super) fn find(rules: &PageRules, words: &[Line]) -> Vec<FoundTable> {
    if rules.horizontal.len().saturating_mul(rules.vertical.len()) > MAX_PAIRS {
        return Vec::new();
    }
    let grids = connected(rules).into_iter().filter_map(|part| Grid::of_rules(&part, words));
    let mut tables: Vec<FoundTable> = grids.filter_map(|grid| grid.table()).collect();
    // Of tables that overlap, the one with more cells is real, and the other one a frame around it.
    tables.sort_by_key(|table| std::cmp::Reverse(table.cells.len()));
    let mut found: Vec<FoundTable> = Vec::new();
    for table in tables {
        if !found.iter().any(|other| overlap(other.bounds, table.bounds)) {
            found.push(table);
        }
    }
    found
}

fn overlap(a: [f32; 4], b: [f32; 4]) -> bool {
    let side = |from: usize, to: usize| a[to].min(b[to]) - a[from].max(b[from]);
    side(0, 2) > TOUCHING && side(1, 3) > TOUCHING
}

/// Lines by the drawings that they make: two that meet belong together.
fn connected(rules: &PageRules) -> Vec<PageRules> {
    let count = rules.horizontal.len();
    let mut parents: Vec<usize> = (0..count + rules.vertical.len()).collect();
    for (index, line) in rules.horizontal.iter().enumerate() {
        for (other, crossing) in rules.vertical.iter().enumerate() {
            if reaches(line, crossing.at) && reaches(crossing, line.at) {
                let (a, b) = (root(&mut parents, index), root(&mut parents, count + other));
                parents[a] = b;
            }
        }
    }
    let mut parts: Vec<(usize, PageRules)> = Vec::new();
    for index in 0..parents.len() {
        let root = root(&mut parents, index);
        let at = parts.iter().position(|(found, _)| *found == root).unwrap_or_else(|| {
            parts.push((root, PageRules::default()));
            parts.len() - 1
        });
        match index.checked_sub(count) {
            None => parts[at].1.horizontal.push(rules.horizontal[index]),
            Some(index) => parts[at].1.vertical.push(rules.vertical[index]),
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

fn root(parents: &mut [usize], mut node: usize) -> usize {
    while parents[node] != node {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    node
}

fn reaches(line: &Rule, at: f32) -> bool {
    line.from - TOUCHING <= at && at <= line.to + TOUCHING
}
