//! Puts the tables that were found in place of the blocks that hold their text.

use super::{FoundTable, contains};
use crate::read::pdf::{Kind, PdfBlock, cells};
use std::collections::HashMap;
use std::ptr;

/// Share of a table's height that other tables must cover to replace it.
const COVERED: f32 = 0.8;
/// Share of a block's words that must be those of tables, if its place is not known.
const KNOWN_PERCENT: usize = 90;

/// Replaces the blocks of a page that are parts of `tables`. Each table keeps the blocks that it
/// replaced, because a single row may turn out to be none.
pub(in crate::read::pdf) fn place(
    blocks: Vec<PdfBlock>,
    tables: &[FoundTable],
    page: &unpdf::Page,
) -> Vec<PdfBlock> {
    let is_better = |table: &&FoundTable| !blocks.iter().any(|block| exceeds(block, table, tables));
    let tables: Vec<&FoundTable> = tables.iter().filter(is_better).collect();
    if tables.is_empty() {
        return blocks;
    }
    let mut waiting = tables.clone();
    let mut placed: Vec<(Option<&FoundTable>, PdfBlock)> = Vec::new();
    for block in blocks {
        let table = of_block(&block, &tables);
        let is_due = |other: &&FoundTable| match (table, block.bounds) {
            (Some(table), _) => other.bounds[1] <= table.bounds[1],
            (None, Some(bounds)) => is_above(other.bounds, bounds),
            (None, None) => false,
        };
        let due = waiting.iter().copied().filter(is_due);
        placed.extend(due.map(|other| (Some(other), of_table(other, page))));
        waiting.retain(|other| !is_due(other));
        let of_same = |other: &&mut (Option<&FoundTable>, PdfBlock)| {
            table.is_some_and(|table| other.0.is_some_and(|other| ptr::eq(other, table)))
        };
        match placed.iter_mut().find(of_same) {
            Some((_, table)) => table.replaced.push(block),
            None => placed.push((None, block)),
        }
    }
    let rest = waiting.into_iter().map(|table| of_table(table, page));
    placed.into_iter().map(|(_, block)| block).chain(rest).collect()
}

/// True if a table ends above a block that is in the same column of the page.
fn is_above(table: [f32; 4], block: [f32; 4]) -> bool {
    let beside = block[0] >= table[2] || block[2] <= table[0];
    table[3] <= f32::midpoint(block[1], block[3]) && !beside
}

/// The table that a block is a part of.
fn of_block<'t>(block: &PdfBlock, tables: &[&'t FoundTable]) -> Option<&'t FoundTable> {
    let mut tables = tables.iter().copied();
    match (block.bounds, &block.kind) {
        (Some(bounds), Kind::Table(_)) => {
            tables.find(|table| contains(table.bounds, bounds) || contains(bounds, table.bounds))
        }
        (Some(bounds), _) => tables.find(|table| contains(table.bounds, bounds)),
        (None, kind) => tables.find(|table| has_words(table, &text(kind))),
    }
}

/// True if a block is a table with more than this one and our others in its place.
fn exceeds(block: &PdfBlock, table: &FoundTable, tables: &[FoundTable]) -> bool {
    let (Kind::Table(_), Some(bounds)) = (&block.kind, block.bounds) else { return false };
    let covered =
        |table: &FoundTable| (table.bounds[3].min(bounds[3]) - table.bounds[1].max(bounds[1])).max(0.0);
    let is_part = contains(table.bounds, bounds) || contains(bounds, table.bounds);
    is_part && tables.iter().map(covered).sum::<f32>() < COVERED * (bounds[3] - bounds[1])
}

fn of_table(table: &FoundTable, page: &unpdf::Page) -> PdfBlock {
    PdfBlock { bounds: Some(table.bounds), ..PdfBlock::new(page, Kind::Table(table.clone()), None) }
}

fn text(kind: &Kind) -> String {
    match kind {
        Kind::Text { text, .. } | Kind::Heading(text) | Kind::Code(text) | Kind::Item { text, .. } => {
            text.clone()
        }
        Kind::Table(table) => table.text(),
    }
}

fn has_words(table: &FoundTable, text: &str) -> bool {
    let mut known: HashMap<String, usize> = HashMap::new();
    for word in table.cells.iter().flat_map(|cell| cell.text.split_whitespace()) {
        *known.entry(cells::key(word)).or_default() += 1;
    }
    let (mut words, mut found) = (0, 0);
    for word in text.split_whitespace().map(cells::key) {
        words += 1;
        if let Some(count) = known.get_mut(&word).filter(|count| **count > 0) {
            *count -= 1;
            found += 1;
        }
    }
    found * 100 >= words * KNOWN_PERCENT
}
