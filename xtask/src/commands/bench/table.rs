//! Renders the figures as a table and compares them with the goals.

use std::fmt::Write as _;

use super::Row;
use super::median::median;
use super::run::Run;

/// Goal for our client: calls per second of CPU time, as a multiple of rmcp's.
const GOAL: f64 = 2.0;

pub(super) fn render(rows: &[Row]) -> String {
    let mut text = String::from(
        "way           callers  client       calls/s  CPU µs/call  ours: calls/s  ours: calls per CPU second\n",
    );
    for row in rows {
        let ours = Medians::of(&row.runs[0]);
        for (client, runs) in row.case.clients.iter().zip(&row.runs) {
            let theirs = Medians::of(runs);
            let (way, callers, client) = (row.case.name, row.concurrency, client.name());
            let Medians { rate, cost } = theirs;
            write!(text, "{way:<13} {callers:>7}  {client:<11} {rate:>8.0}  {cost:>11.1}")
                .expect("writing to a String does not fail");
            if client != row.case.clients[0].name() {
                write!(text, "  {:>12.2}×  {:>25.2}×", ours.rate / rate, cost / ours.cost)
                    .expect("writing to a String does not fail");
            }
            text.push('\n');
        }
    }
    text
}

/// Says whether the goal is met. A miss does not fail the run, since it depends on the machine.
pub(super) fn verdict(rows: &[Row]) -> String {
    let ratios: Vec<f64> = rows.iter().flat_map(ratios).collect();
    let met = ratios.iter().filter(|ratio| **ratio >= GOAL).count();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    let all = ratios.len();
    format!("calls per CPU second: {least:.2}× to {most:.2}× rmcp's; at least {GOAL}× in {met} of {all}")
}

/// Ratio of our calls per second of CPU time to that of each other client.
fn ratios(row: &Row) -> impl Iterator<Item = f64> {
    let ours = Medians::of(&row.runs[0]).cost;
    row.runs[1..].iter().map(move |runs| Medians::of(runs).cost / ours)
}

#[derive(Debug, Clone, Copy)]
struct Medians {
    rate: f64,
    cost: f64,
}

impl Medians {
    fn of(runs: &[Run]) -> Self {
        Self {
            rate: median(runs.iter().map(Run::calls_per_second)),
            cost: median(runs.iter().map(Run::cpu_micros_per_call)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::CASES;
    use super::super::run::example;
    use super::*;

    #[test]
    fn a_row_shows_medians_and_how_we_compare() {
        let ours = vec![example(900.0, 1.0, 0.009), example(1000.0, 1.0, 0.010), example(10.0, 1.0, 0.010)];
        let theirs = vec![example(300.0, 1.0, 0.009), example(450.0, 1.0, 0.009), example(450.0, 1.0, 0.018)];
        let row = Row { case: &CASES[2], concurrency: 32, runs: vec![ours, theirs] };
        assert_eq!(ratios(&row).collect::<Vec<_>>(), [3.0]);
        let table = render(&[row]);
        let lines: Vec<Vec<&str>> = table.lines().skip(1).map(|l| l.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["stdio-modern", "32", "trunkline", "900", "10.0"]);
        assert_eq!(lines[1], ["stdio-modern", "32", "rmcp", "450", "30.0", "2.00×", "3.00×"]);
    }
}
