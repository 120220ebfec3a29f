//! Writes tables.

use super::{TableStyle, Writer};
use crate::write::{Part, Scope, Visited, grid::Grid};
use crate::{NodeId, TableCell, TableData};
use std::collections::HashMap;

/// Spaces that a column is at least wider than its header.
const HEADER_PADDING: usize = 2;

impl Writer<'_> {
    pub(super) fn table(&self, id: NodeId, scope: Scope, visited: &mut Visited) -> Part {
        if scope.in_cell {
            return self.flattened(id, visited);
        }
        let table = &self.document.tables[id.position()];
        let mut parts = vec![self.captions(&table.captions, visited)];
        if !self.tree.excluded.contains(&id) {
            let in_cell = Scope { in_cell: true, ..Scope::default() };
            let mut rich: HashMap<(u32, u32), String> = HashMap::new();
            let rows = self.rows(&table.data, &mut |cell| match &cell.content {
                None => cell.text.clone(),
                Some(content) => rich
                    .entry((cell.start_row_offset_idx, cell.start_col_offset_idx))
                    .or_insert_with(|| self.node(content.to, in_cell, visited).text)
                    .clone(),
            });
            if !rows.is_empty() {
                parts.push(Part::of(rows, id));
            }
        }
        Part::join(&parts, "\n\n")
    }

    /// The rows of a table; `text` gives the text of a cell.
    pub(super) fn rows(&self, data: &TableData, text: &mut dyn FnMut(&TableCell) -> String) -> String {
        let grid = Grid::new(data);
        let mut rows: Vec<Vec<String>> = Vec::new();
        for slots in grid.rows() {
            // Line breaks and bars would end the row or the cell.
            let clean = |text: String| text.replace('\n', " ").replace('|', "&#124;");
            let row = slots.iter().map(|slot| slot.map_or_else(String::new, |cell| clean(text(cell))));
            rows.push(row.collect());
        }
        if rows.is_empty() {
            return String::new();
        }
        let mut headers = grid.header_rows(data);
        if headers == 0 && !grid.rows().skip(1).flatten().flatten().any(|cell| cell.column_header) {
            headers = 1;
        }
        let header = flatten(&rows[..headers], grid.columns());
        match self.options.tables {
            TableStyle::Padded => padded(&header, &rows[headers..]),
            TableStyle::Compact => compact(&header, &rows[headers..]),
        }
    }
}

/// Markdown has one header row: stacked headers are joined by column, repeated ones once.
fn flatten(rows: &[Vec<String>], columns: usize) -> Vec<String> {
    let column = |column: usize| {
        let mut parts: Vec<&str> = Vec::new();
        for text in rows.iter().map(|row| row[column].as_str()) {
            if !text.is_empty() && parts.last() != Some(&text) {
                parts.push(text);
            }
        }
        parts.join(" - ")
    };
    (0..columns).map(column).collect()
}

fn padded(header: &[String], rows: &[Vec<String>]) -> String {
    let width = |text: &str| text.chars().count();
    let mut lines = vec![String::from("|"); rows.len() + 2];
    for (column, title) in header.iter().enumerate() {
        let cells: Vec<&str> = rows.iter().map(|row| row[column].trim()).collect();
        let widest = cells.iter().map(|cell| width(cell)).max().unwrap_or(0);
        let total = widest.max(width(title) + HEADER_PADDING);
        let right = is_numeric(rows.iter().map(|row| row[column].as_str()));
        let pad = |text: &str| {
            let space = " ".repeat(total.saturating_sub(width(text)));
            if right { format!(" {space}{text} |") } else { format!(" {text}{space} |") }
        };
        lines[0].push_str(&pad(title));
        lines[1].push_str(&"-".repeat(total + 2));
        lines[1].push('|');
        for (line, cell) in lines[2..].iter_mut().zip(cells) {
            line.push_str(&pad(cell));
        }
    }
    lines.join("\n")
}

fn compact(header: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<&str> = cells.iter().map(|cell| cell.trim()).collect();
        format!("| {} |", cells.join(" | "))
    };
    let mut lines = vec![line(header), line(&vec!["-".to_owned(); header.len()])];
    lines.extend(rows.iter().map(|row| line(row)));
    lines.join("\n")
}

/// True if a column has numbers and nothing else; it is then aligned to the right.
fn is_numeric<'t>(cells: impl Iterator<Item = &'t str>) -> bool {
    let mut numbers = 0;
    for cell in cells.filter(|cell| !cell.is_empty()) {
        if matches!(cell, "True" | "False") {
            continue;
        }
        if !is_number(cell) {
            return false;
        }
        numbers += 1;
    }
    numbers > 0
}

fn is_number(cell: &str) -> bool {
    let text = cell.trim();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let Some(first) = unsigned.chars().next() else { return false };
    if !first.is_ascii_digit() && first != '.' {
        return matches!(cell.to_ascii_lowercase().as_str(), "inf" | "-inf" | "nan");
    }
    // An underscore may stand between two digits.
    let digits: Vec<char> = text.chars().collect();
    let misplaced = digits.iter().enumerate().any(|(at, c)| {
        let digit = |at: Option<usize>| at.and_then(|at| digits.get(at)).is_some_and(char::is_ascii_digit);
        *c == '_' && !(digit(at.checked_sub(1)) && digit(Some(at + 1)))
    });
    let plain = text.replace('_', "");
    let number = !misplaced && plain.parse::<f64>().is_ok_and(f64::is_finite);
    number || has_thousands(cell)
}

/// `1,234.5`: groups of three digits, then an optional fraction.
fn has_thousands(cell: &str) -> bool {
    let (whole, fraction) = cell.split_once('.').unwrap_or((cell, ""));
    let mut groups = whole.strip_prefix(['+', '-']).unwrap_or(whole).split(',');
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().unwrap_or("");
    (1..=3).contains(&first.len())
        && digits(first)
        && groups.all(|group| group.len() == 3 && digits(group))
        && digits(fraction)
}
