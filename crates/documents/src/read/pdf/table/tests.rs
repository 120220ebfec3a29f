use super::rules::Rule;
use super::*;

/// Words of 10 points height, 6 points for each character.
fn words(lines: &[(f32, f32, &str)]) -> Vec<Line> {
    let mut words = Vec::new();
    for (left, top, text) in lines {
        let mut left = *left;
        for word in text.split(' ') {
            let right = left + 6.0 * f32::from(u8::try_from(word.len()).unwrap());
            words.push(Line { text: word.to_owned(), bounds: [left, *top, right, top + 10.0] });
            left = right + 3.0;
        }
    }
    words
}

fn rule(at: f32, from: f32, to: f32) -> Rule {
    Rule { at, from, to }
}

/// The texts of a table by rows; a cell that spans columns is followed by `<`, rows by `^`.
fn shown(table: &FoundTable) -> Vec<String> {
    let mut grid = vec![vec![String::new(); table.columns]; table.rows];
    for cell in &table.cells {
        for (below, row) in grid[cell.row..cell.row + cell.rows].iter_mut().enumerate() {
            row[cell.column..cell.column + cell.columns].fill(if below > 0 { "^" } else { "<" }.to_owned());
        }
        grid[cell.row][cell.column].clone_from(&cell.text);
    }
    grid.iter().map(|row| row.join("|")).collect()
}

fn one(rules: &PageRules, words: &[Line]) -> Vec<String> {
    let tables = find(rules, words, 800.0);
    assert_eq!(tables.len(), 1, "{tables:?}");
    shown(&tables[0])
}

fn grid() -> PageRules {
    PageRules {
        horizontal: [100.0, 120.0, 140.0, 160.0].map(|at| rule(at, 50.0, 350.0)).to_vec(),
        vertical: [50.0, 150.0, 250.0, 350.0].map(|at| rule(at, 100.0, 160.0)).to_vec(),
    }
}

#[test]
fn a_ruled_grid_keeps_its_empty_cells() {
    let words =
        words(&[(55.0, 105.0, "Name"), (155.0, 105.0, "Size"), (255.0, 125.0, "a b"), (55.0, 145.0, "x")]);
    assert_eq!(one(&grid(), &words), ["Name|Size|", "||a b", "x||"]);
}

#[test]
fn cells_are_merged_where_no_line_is_drawn() {
    let mut rules = grid();
    // The header spans the last two columns, and the first column the last two rows.
    rules.vertical[2].from = 120.0;
    rules.horizontal[2].from = 150.0;
    let words = words(&[
        (55.0, 105.0, "Name"),
        (200.0, 105.0, "both columns"),
        (55.0, 125.0, "x"),
        (255.0, 145.0, "y"),
    ]);
    assert_eq!(one(&rules, &words), ["Name|both columns|<", "x||", "^||y"]);
}

#[test]
fn lines_without_columns_get_them_from_the_text() {
    let horizontal = [100.0, 120.0, 190.0].map(|at| rule(at, 50.0, 350.0)).to_vec();
    let rules = PageRules { horizontal, vertical: Vec::new() };
    let words = words(&[
        (55.0, 105.0, "Name"),
        (155.0, 105.0, "Size"),
        (55.0, 125.0, "left"),
        (155.0, 125.0, "12"),
        (55.0, 145.0, "middle"),
        (155.0, 145.0, "7"),
        (55.0, 165.0, "right"),
        (155.0, 165.0, "300"),
    ]);
    assert_eq!(one(&rules, &words), ["Name|Size", "left|12", "middle|7", "right|300"]);
}

#[test]
fn aligned_words_are_a_table_without_lines() {
    let words = words(&[
        (50.0, 60.0, "This paragraph stands above the table and is wider than its columns are"),
        (50.0, 100.0, "Name"),
        (150.0, 100.0, "Note"),
        (294.0, 100.0, "Size"),
        (50.0, 114.0, "left"),
        (150.0, 114.0, "a note that needs more"),
        (306.0, 114.0, "12"),
        (150.0, 128.0, "than one line"),
        (50.0, 142.0, "middle"),
        (312.0, 142.0, "7"),
    ]);
    let expected = ["Name|Note|Size", "left|a note that needs more than one line|12", "middle||7"];
    assert_eq!(one(&PageRules::default(), &words), expected);
}

#[test]
fn lists_and_columns_of_prose_are_no_tables() {
    let list =
        words(&[(50.0, 60.0, "1."), (70.0, 60.0, "first"), (50.0, 74.0, "2."), (70.0, 74.0, "second")]);
    assert_eq!(find(&PageRules::default(), &list, 800.0), []);
    let mut lines = Vec::new();
    for top in [60.0, 74.0, 88.0, 102.0] {
        lines.push((50.0, top, "a column of text with words that fill"));
        lines.push((320.0, top, "another column of text beside the first"));
    }
    // Its first and last line are rows only beside a table on another page.
    let found = find(&PageRules::default(), &words(&lines), 800.0);
    assert!(found.iter().all(|table| table.standing == Standing::Row), "{found:?}");
}
