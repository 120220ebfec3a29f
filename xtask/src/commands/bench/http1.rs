//! `cargo xtask bench http1`: the cost of a request with our HTTP/1.1 and with hyper, in one run.
//!
//! Only one side differs between pairs: both servers are called by our client, and both clients
//! call our server. The pairs take turns within each round; the table shows medians over the
//! rounds.

use std::process::Command;

use anyhow::Result;

use super::median::median;
use super::run::{self, Load, Run};
use super::{ROUNDS, concurrency};
use crate::arguments::Arguments;
use crate::process;
use crate::workspace::Workspace;

const SECONDS: f64 = 2.0;
/// Server and client of each run.
const PAIRS: [[&str; 2]; 3] = [["http1", "http1"], ["hyper", "http1"], ["http1", "hyper"]];

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let seconds = arguments.parsed("--seconds")?.unwrap_or(SECONDS);
    let rounds = arguments.parsed("--rounds")?.unwrap_or(ROUNDS).max(1);
    let concurrency = concurrency(&mut arguments)?;
    arguments.finish()?;

    let build = ["build", "--profile", "bench", "--package", "trunkline-bench", "--bin", "bench-http1"];
    process::run(&mut workspace.cargo(&build))?;
    let program = workspace.target().join("release/bench-http1");
    let mut table = String::new();
    for concurrency in concurrency {
        let load = Load { concurrency, seconds };
        let mut runs = [const { Vec::new() }; PAIRS.len()];
        for round in 1..=rounds {
            for ([server, client], runs) in PAIRS.iter().zip(&mut runs) {
                let mut command = Command::new(&program);
                command.args(["--server", server, "--client", client]).args(load.arguments());
                let run = run::once(&mut command)?;
                println!("{concurrency} connections, round {round}: server {server}, client {client}: {run}");
                runs.push(run);
            }
        }
        table += &rows(concurrency, &runs);
    }
    println!("\nconnections  side    http1 µs  hyper µs  http1 / hyper\n{table}");
    Ok(())
}

fn rows(concurrency: usize, [ours, server, client]: &[Vec<Run>; 3]) -> String {
    let row = |side: &str, theirs: &[Run], cost: fn(&Run) -> f64| {
        let [ours, theirs] = [ours, theirs].map(|runs| median(runs.iter().map(cost)));
        format!("{concurrency:>11}  {side:<6} {ours:>9.2} {theirs:>9.2} {:>14.2}\n", ours / theirs)
    };
    row("server", server, Run::server_micros_per_call) + &row("client", client, Run::cpu_micros_per_call)
}

#[cfg(test)]
mod tests {
    use super::super::run::{example, served};
    use super::*;

    #[test]
    fn each_side_is_compared_with_its_own_cost() {
        let ours = vec![served(1000.0, 0.003)];
        let rows = rows(32, &[ours, vec![served(1000.0, 0.006)], vec![example(1000.0, 1.0, 0.004)]]);
        let words: Vec<Vec<&str>> = rows.lines().map(|row| row.split_whitespace().collect()).collect();
        assert_eq!(words[0], ["32", "server", "3.00", "6.00", "0.50"]);
        assert_eq!(words[1], ["32", "client", "0.00", "4.00", "0.00"]);
    }
}
