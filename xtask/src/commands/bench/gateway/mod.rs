//! `cargo xtask bench gateway`: what a hop through us costs, beside the thinnest proxy there can be, in the same run.
//!
//! It needs a harness: a folder whose `target/release` has `upstream` (a fast MCP server), `load` (callers that print one
//! line of JSON) and `floor` (a proxy that does next to nothing). Whoever stands before the upstream is a process of its own;
//! they take turns within each round, and what is shown are medians over the rounds.

mod configured;
mod harness;
mod stand;
mod table;

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::ROUNDS;
use crate::arguments::Arguments;
use crate::process;
use crate::workspace::Workspace;
use harness::{Harness, Sample};
use stand::{Kind, Stand};

const SECONDS: f64 = 4.0;
/// What is asked, and by how many callers at a time.
const MODES: [(&str, usize); 5] = [("echo", 1), ("echo", 32), ("echo", 256), ("blob", 4), ("list", 8)];

/// One part of the table: everybody's samples under one load.
struct Row {
    mode: &'static str,
    callers: usize,
    samples: Vec<(Kind, Vec<Sample>)>,
}

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let harness = arguments.value("--harness")?.map(PathBuf::from).context(
        "bench gateway needs a harness: --harness FOLDER, whose target/release has `upstream`, `load` and `floor`",
    )?;
    let seconds = arguments.parsed("--seconds")?.unwrap_or(SECONDS);
    let rounds = arguments.parsed("--rounds")?.unwrap_or(ROUNDS).max(1);
    let only = arguments.values("--only")?;
    arguments.finish()?;
    let harness = Harness::at(&harness, seconds)?;
    let kinds = Kind::chosen(&only)?;

    process::run(&mut workspace.cargo(&["build", "--release", "--package", "trunkline"]))?;
    let trunkline = workspace.target().join("release/trunkline");
    let upstream = harness.upstream()?;
    let mut stands = Vec::new();
    for kind in kinds {
        match Stand::start(kind, &harness, &upstream, &trunkline)? {
            Some(stand) => stands.push(stand),
            None => println!("{} is left out: it is not on the PATH", kind.name()),
        }
    }
    println!("\n{rounds} rounds of {seconds} s for each");
    let mut rows = Vec::new();
    for (mode, callers) in MODES {
        let mut row =
            Row { mode, callers, samples: stands.iter().map(|stand| (stand.kind, Vec::new())).collect() };
        for round in 1..=rounds {
            for (stand, (kind, samples)) in stands.iter().zip(&mut row.samples) {
                let sample = harness.load(mode, callers, stand, &upstream)?;
                println!("{mode} × {callers}, round {round}: {} {sample}", kind.name());
                samples.push(sample);
            }
        }
        rows.push(row);
    }
    println!("\n{}\n{}", table::render(&rows), table::verdict(&rows));
    Ok(())
}
