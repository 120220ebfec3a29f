//! The matrix as a table; a test compares it with the table in the documentation of this suite.

use crate::{
    CELLS,
    cell::{Cell, Way},
    script::{Script, Setting},
};
use trunkline_protocol::Era;

const HEAD: &str = "| server | transport | era | auto | forced | list | call | structured | read | prompt | complete \
                    | progress | cancel | answer | log | update | change | close |";

/// Returns the row of a server, a transport and an era.
fn row(cell: Cell) -> String {
    let script = Script::of(cell, &Setting::default());
    let connected = |way| CELLS.contains(&Cell { way, ..cell });
    let steps = [
        connected(Way::Auto),
        connected(Way::Forced),
        !script.tools.is_empty(),
        !script.call.tool.is_empty(),
        script.structured.is_some(),
        script.read.is_some(),
        script.prompt.is_some(),
        script.complete.is_some(),
        script.progress.is_some(),
        true,
        !script.questions.is_empty(),
        script.log.is_some(),
        script.update.is_some(),
        script.growth.is_some(),
        true,
    ];
    let era = if cell.era == Era::Modern { "modern" } else { "legacy" };
    let ticks: String = steps.iter().map(|step| if *step { " ✓ |" } else { "   |" }).collect();
    format!("| {} | {} | {era} |{ticks}", cell.server, cell.carrier)
}

fn table() -> Vec<String> {
    let mut rows = vec![HEAD.to_owned(), "|---".repeat(HEAD.matches('|').count() - 1) + "|"];
    for cell in CELLS {
        let row = row(*cell);
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}

#[test]
fn the_documented_table_is_the_matrix() {
    let documented: Vec<_> = include_str!("main.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("//! "))
        .filter(|line| line.starts_with('|'))
        .collect();
    let table = table();
    println!("{}", table.join("\n"));
    assert_eq!(documented, table, "write this table into main.rs:\n//! {}\n", table.join("\n//! "));
}
