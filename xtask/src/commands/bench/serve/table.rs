//! Renders the figures as a table and compares them with the goals.

use std::fmt::Write as _;

use super::super::median::median;
use super::super::run::Run;
use super::Row;
use super::server::Kind;

/// Goal for our server: calls per second of CPU time, as a multiple of rmcp's.
const GOAL: f64 = 3.0;

pub(super) fn render(rows: &[Row]) -> String {
    let mut text = String::from(
        "asked  era     callers  server           calls/s  server CPU µs/call  calls per CPU second, to rmcp's\n",
    );
    for row in rows {
        let rmcp = row.cost(Kind::Rmcp);
        for (kind, runs) in &row.runs {
            let (ask, era, callers, server) = (row.ask, row.era, row.concurrency, kind.name());
            let (rate, cost) = (median(runs.iter().map(Run::calls_per_second)), cost(runs));
            write!(text, "{ask:<6} {era:<7} {callers:>7}  {server:<15} {rate:>8.0}  {cost:>18.1}")
                .expect("writing to a String does not fail");
            if let Some(rmcp) = rmcp {
                write!(text, "  {:>30.2}×", rmcp / cost).expect("writing to a String does not fail");
            }
            if runs.iter().any(Run::is_coarse) {
                text.push_str("  (too little work to measure)");
            }
            text.push('\n');
        }
    }
    text
}

/// Says whether the goal is met. A miss does not fail the run, since it depends on the machine.
pub(super) fn verdict(rows: &[Row]) -> String {
    let lines: Vec<String> = [Kind::Rmcp, Kind::RmcpJson, Kind::RmcpMimalloc]
        .into_iter()
        .filter_map(|rival| beside(rows, rival))
        .collect();
    lines.join("\n")
}

fn beside(rows: &[Row], rival: Kind) -> Option<String> {
    let ratios: Vec<f64> =
        rows.iter().filter_map(|row| Some(row.cost(rival)? / row.cost(Kind::Trunkline)?)).collect();
    let least = ratios.iter().copied().min_by(f64::total_cmp)?;
    let most = ratios.iter().copied().max_by(f64::total_cmp)?;
    let (met, all) = (ratios.iter().filter(|ratio| **ratio >= GOAL).count(), ratios.len());
    let name = rival.name();
    Some(format!(
        "calls per CPU second: {least:.2}× to {most:.2}× {name}'s; at least {GOAL}× in {met} of {all}"
    ))
}

fn cost(runs: &[Run]) -> f64 {
    median(runs.iter().map(Run::server_micros_per_call))
}

impl Row {
    /// CPU time per call of a server; `None` if it was not measured or its CPU time is too coarse.
    fn cost(&self, of: Kind) -> Option<f64> {
        let (_, runs) = self.runs.iter().find(|(kind, _)| *kind == of)?;
        (!runs.iter().any(Run::is_coarse)).then(|| cost(runs))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::run::served;
    use super::*;

    #[test]
    fn servers_are_compared_by_the_median_of_their_own_processor_time() {
        let ours = vec![served(50_000.0, 0.5), served(50_000.0, 0.6), served(500.0, 0.5)];
        let theirs = vec![served(20_000.0, 1.2), served(20_000.0, 1.2), served(20_000.0, 20.0)];
        let runs = vec![(Kind::Trunkline, ours), (Kind::Rmcp, theirs)];
        let rows = [Row { ask: "call", era: "modern", concurrency: 32, runs }];
        let table = render(&rows);
        let lines: Vec<Vec<&str>> = table.lines().skip(1).map(|l| l.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["call", "modern", "32", "trunkline", "50000", "12.0", "5.00×"]);
        assert_eq!(lines[1], ["call", "modern", "32", "rmcp", "20000", "60.0", "1.00×"]);
        let verdict = verdict(&rows);
        assert_eq!(verdict, "calls per CPU second: 5.00× to 5.00× rmcp's; at least 3× in 1 of 1");
    }

    #[test]
    fn a_server_that_hardly_worked_is_compared_with_none() {
        let runs =
            vec![(Kind::Trunkline, vec![served(50_000.0, 0.5)]), (Kind::Rmcp, vec![served(29.0, 0.01)])];
        let rows = [Row { ask: "call", era: "legacy", concurrency: 1, runs }];
        assert!(render(&rows).contains("(too little work to measure)"));
        assert_eq!(verdict(&rows), "");
    }
}
