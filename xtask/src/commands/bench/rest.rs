//! `cargo xtask bench rest`: echo over REST with identity, limits and audit, beside a bare axum
//! handler that parses and echoes the same JSON, in one run.
//!
//! The two take turns within each round; the table shows medians over the rounds.

use std::process::Command;

use anyhow::Result;

use super::median::median;
use super::run::{self, Load, Run};
use super::{ROUNDS, concurrency};
use crate::arguments::Arguments;
use crate::process;
use crate::workspace::Workspace;

const SECONDS: f64 = 2.0;
const SERVERS: [&str; 2] = ["trunkline", "axum"];
/// Goal: calls per CPU second of our server, as a share of the bare handler's.
const GOAL: f64 = 0.6;

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let seconds = arguments.parsed("--seconds")?.unwrap_or(SECONDS);
    let rounds = arguments.parsed("--rounds")?.unwrap_or(ROUNDS).max(1);
    let concurrency = concurrency(&mut arguments)?;
    arguments.finish()?;

    let build = ["build", "--profile", "bench", "--package", "trunkline-bench", "--bin", "bench-rest"];
    process::run(&mut workspace.cargo(&build))?;
    let program = workspace.target().join("release/bench-rest");
    let mut table = String::new();
    for concurrency in concurrency {
        let load = Load { concurrency, seconds };
        let mut runs = [const { Vec::new() }; SERVERS.len()];
        for round in 1..=rounds {
            for (server, runs) in SERVERS.iter().zip(&mut runs) {
                let mut command = Command::new(&program);
                let run = run::once(command.args(["--server", server]).args(load.arguments()))?;
                println!("{concurrency} connections, round {round}: {server}: {run}");
                runs.push(run);
            }
        }
        table += &row(concurrency, &runs);
    }
    println!("\nconnections  REST µs  axum µs  calls per CPU second, to axum's\n{table}");
    println!("the goal is at least {:.0} %", GOAL * 100.0);
    Ok(())
}

fn row(concurrency: usize, runs: &[Vec<Run>; 2]) -> String {
    let [ours, bare] = [&runs[0], &runs[1]].map(|runs| median(runs.iter().map(Run::server_micros_per_call)));
    format!("{concurrency:>11} {ours:>8.1} {bare:>8.1} {:>30.0} %\n", bare / ours * 100.0)
}

#[cfg(test)]
mod tests {
    use super::super::run::served;
    use super::*;

    #[test]
    fn the_share_is_of_calls_per_processor_time() {
        let row = row(32, &[vec![served(1000.0, 0.010)], vec![served(1000.0, 0.007)]]);
        assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["32", "10.0", "7.0", "70", "%"]);
    }
}
