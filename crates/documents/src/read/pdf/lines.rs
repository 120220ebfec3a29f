//! Splits paragraphs where a line ends although the next word would have fitted.

use super::cells::{Line, PageCells};
use super::lists;
use super::table::{self, FoundTable};

/// Part of a column's width by which edges may differ.
const SLACK: f32 = 0.02;

/// Splits the lines of a paragraph into the paragraphs, list items and tables that they belong to.
pub(super) fn split(lines: Vec<Line>, cells: &PageCells, tables: &[FoundTable]) -> Vec<Vec<Line>> {
    let table = |line: &Line| tables.iter().position(|table| table::contains(table.bounds, line.bounds));
    let mut parts: Vec<Vec<Line>> = Vec::new();
    for line in lines {
        match parts.last_mut() {
            Some(part) if table(&part[0]) != table(&line) => parts.push(vec![line]),
            Some(part) if table(&line).is_some() || !starts_anew(part, &line, cells) => part.push(line),
            _ => parts.push(vec![line]),
        }
    }
    parts
}

fn starts_anew(part: &[Line], next: &Line, cells: &PageCells) -> bool {
    let Some(last) = part.last() else { return true };
    if lists::bullet(&next.text).is_some() {
        return true;
    }
    // Cells on one line belong together.
    let overlap = last.bounds[3].min(next.bounds[3]) - last.bounds[1].max(next.bounds[1]);
    if overlap > 0.5 * (next.bounds[3] - next.bounds[1]) {
        return false;
    }
    let word = next.text.split_whitespace().next().unwrap_or("").chars().count() + 1;
    let characters = next.text.chars().count().max(1);
    let width = next.bounds[2] - next.bounds[0];
    #[expect(clippy::cast_precision_loss, reason = "lines have few characters")]
    let word_width = width * word as f32 / characters as f32;
    let edge = cells.column_edge(last);
    let slack = (edge - last.bounds[0]) * SLACK;
    last.bounds[2] + word_width + slack < edge
}

/// The text of lines, with words that were divided at the end of a line put together.
pub(super) fn join(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        let divided = text.ends_with('-')
            && text.chars().rev().nth(1).is_some_and(char::is_alphabetic)
            && line.text.starts_with(char::is_lowercase);
        if divided {
            text.pop();
        } else if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&line.text);
    }
    text
}

/// The box around lines.
pub(super) fn bounds(lines: &[Line]) -> Option<[f32; 4]> {
    let boxes = lines.iter().map(|line| line.bounds);
    boxes.reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])])
}
