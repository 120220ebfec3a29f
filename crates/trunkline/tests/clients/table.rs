//! The matrix as a table; a test checks that the documentation of this suite shows it.

use crate::{CELLS, cell::Cell};

const HEAD: &str = "| client | transport | era | list | call | structured | bad call | answer | close |";

fn row(cell: Cell) -> String {
    let answer = if cell.answers() { "✓" } else { " " };
    format!("| {} | {} | {} | ✓ | ✓ | ✓ | ✓ | {answer} | ✓ |", cell.client, cell.carrier, cell.era_word())
}

#[test]
fn the_documented_table_is_the_matrix() {
    let documented: Vec<_> = include_str!("main.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("//! "))
        .filter(|line| line.starts_with('|'))
        .collect();
    let mut table = vec![HEAD.to_owned(), "|---".repeat(HEAD.matches('|').count() - 1) + "|"];
    table.extend(CELLS.iter().map(|cell| row(*cell)));
    assert_eq!(documented, table, "write this table into main.rs:\n//! {}\n", table.join("\n//! "));
}
