//! `cargo xtask bench gateway`: what a hop through us costs, beside the thinnest proxy there can be, in the same run.
//!
//! It needs a harness: a folder whose `target/release` has `upstream` (a fast MCP server), `load` (callers that print one
//! line of JSON) and `floor` (a proxy that does next to nothing). With `--peers FOLDER`, the gateways of the harness'
//! `peers.json` that are installed in that folder are measured beside us. Whoever stands before the upstream is a process of its
//! own; they take turns within each round, and what is shown are medians over the rounds.

mod configured;
mod harness;
mod kind;
mod nginx;
mod peers;
mod stand;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::ROUNDS;
use crate::arguments::Arguments;
use crate::process;
use crate::workspace::Workspace;
use harness::{Harness, Sample, free_address};
use kind::Kind;
use peers::{Peer, Places};
use stand::{Running, Stand};

const SECONDS: f64 = 4.0;
/// What is asked, and by how many callers at a time.
const MODES: [(&str, usize); 5] = [("echo", 1), ("echo", 32), ("echo", 256), ("blob", 4), ("list", 8)];

/// One part of the table: everybody's samples under one load, by name.
struct Row {
    mode: &'static str,
    callers: usize,
    samples: Vec<(String, Vec<Sample>)>,
}

/// Everybody who takes turns.
struct Field {
    harness: Harness,
    upstream: Running,
    trunkline: PathBuf,
    kinds: Vec<Kind>,
    peers: Option<(Places, Vec<Peer>)>,
}

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let folder = arguments.value("--harness")?.map(PathBuf::from).context(
        "bench gateway needs a harness: --harness FOLDER, whose target/release has `upstream`, `load` and `floor`",
    )?;
    let places = arguments
        .value("--peers")?
        .map(|peers| Places { harness: folder.clone(), peers: PathBuf::from(peers) });
    let seconds = arguments.parsed("--seconds")?.unwrap_or(SECONDS);
    let rounds = arguments.parsed("--rounds")?.unwrap_or(ROUNDS).max(1);
    let only = arguments.values("--only")?;
    let modes = arguments.values("--mode")?;
    arguments.finish()?;
    let harness = Harness::at(&folder, seconds)?;
    let peers = places.map(|places| installed(&folder, places, &only)).transpose()?;
    let names: Vec<&str> = peers.iter().flat_map(|(_, peers)| peers).map(|peer| peer.name.as_str()).collect();
    let kinds = Kind::chosen(&only, &names)?;
    let address = match peers {
        Some(_) => peers::UPSTREAM.parse().context("the upstream's address")?,
        None => free_address()?,
    };

    process::run(&mut workspace.cargo(&["build", "--release", "--package", "trunkline"]))?;
    let trunkline = workspace.target().join("release/trunkline");
    let upstream = harness.upstream(address)?;
    let field = Field { harness, upstream, trunkline, kinds, peers };
    println!("\n{rounds} rounds of {seconds} s for each");
    let wanted = |(mode, _): &(&str, usize)| modes.is_empty() || modes.iter().any(|only| only == mode);
    let mut rows: Vec<Row> = MODES
        .into_iter()
        .filter(wanted)
        .map(|(mode, callers)| Row { mode, callers, samples: Vec::new() })
        .collect();
    for round in 1..=rounds {
        field.round(round, &mut rows)?;
    }
    println!("\n{}\n{}", table::render(&rows), table::verdict(&rows));
    Ok(())
}

/// The peers that can be measured, of those that were asked for; the others are told of.
fn installed(harness: &Path, places: Places, only: &[String]) -> Result<(Places, Vec<Peer>)> {
    let mut peers = peers::read(harness)?;
    // Some of them we put there ourselves.
    peers.retain(|peer| Kind::named(&peer.name).is_none());
    peers.retain(|peer| only.is_empty() || only.contains(&peer.name));
    peers.retain(|peer| match peer.missing(&places) {
        Some(program) => {
            println!("{} is left out: there is no {program}", peer.name);
            false
        }
        None => true,
    });
    Ok((places, peers))
}

impl Field {
    /// Everybody's turn: started, measured under all loads, and ended.
    fn round(&self, round: usize, rows: &mut [Row]) -> Result<()> {
        for &kind in &self.kinds {
            let Some(stand) = kind.start(&self.harness, &self.upstream, &self.trunkline)? else {
                println!("{} is left out: it is not on the PATH", kind.name());
                continue;
            };
            for row in rows.iter_mut() {
                self.sample(round, row, &stand)?;
            }
        }
        let Some((places, peers)) = &self.peers else { return Ok(()) };
        for peer in peers {
            // What is wrong with a peer is told, and is no reason to end the run.
            match peer.start(&self.harness, &self.upstream, places) {
                Ok(stand) => {
                    for row in rows.iter_mut().filter(|row| peer.takes(row.mode, row.callers)) {
                        self.sample(round, row, &stand).unwrap_or_else(|error| println!("{error:#}"));
                    }
                }
                Err(error) => println!("{} is left out of round {round}: {error:#}", peer.name),
            }
        }
        Ok(())
    }

    fn sample(&self, round: usize, row: &mut Row, stand: &Stand) -> Result<()> {
        let sample = self.harness.load(row.mode, row.callers, stand, &self.upstream)?;
        println!("{} × {}, round {round}: {} {sample}", row.mode, row.callers, stand.name);
        match row.samples.iter_mut().find(|(name, _)| *name == stand.name) {
            Some((_, samples)) => samples.push(sample),
            None => row.samples.push((stand.name.clone(), vec![sample])),
        }
        Ok(())
    }
}
