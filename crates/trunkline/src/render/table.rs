//! Text tables, aligned by display width.

use unicode_width::UnicodeWidthStr;

/// Maximum width of a cell; longer text is truncated.
pub(super) const MAX_CELL: usize = 60;

/// Formats rows below their headings. Each cell is a single, already escaped line.
pub(crate) fn columns(headings: &[String], rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| cut(cell)).collect()).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.chain(headings.get(column)).map(|cell| cell.width()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let rule = widths.iter().map(|width| "─".repeat(*width)).collect();
    let mut out = String::new();
    for row in [headings.to_vec(), rule].iter().chain(&rows) {
        write_row(&mut out, row, &widths);
    }
    out
}

fn write_row(out: &mut String, row: &[String], widths: &[usize]) {
    let mut line = String::new();
    for (cell, width) in row.iter().zip(widths) {
        line.push_str(cell);
        line.extend(std::iter::repeat_n(' ', 2 + width.saturating_sub(cell.width())));
    }
    out.push_str(line.trim_end_matches(' '));
    out.push('\n');
}

fn cut(cell: &str) -> String {
    if cell.width() <= MAX_CELL {
        return cell.to_owned();
    }
    let mut out = String::new();
    for c in cell.chars() {
        if out.width() + 2 > MAX_CELL {
            break;
        }
        out.push(c);
    }
    // After a word, unless that is too far back.
    if let Some(end) = out.rfind(' ').filter(|end| *end > out.len() / 2) {
        out.truncate(end);
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_are_aligned_and_long_cells_cut() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let table = columns(&row(["name", "note"]), &[row(["日本", "x"]), row(["a", &"y".repeat(99)])]);
        let lines: Vec<_> = table.lines().collect();
        assert_eq!(lines[0], "name  note");
        assert_eq!(lines[2], "日本  x");
        assert_eq!(lines[3].width(), 6 + MAX_CELL);
        assert!(lines[3].ends_with('…'));
    }
}
