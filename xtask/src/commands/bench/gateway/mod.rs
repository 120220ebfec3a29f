//! `cargo xtask bench gateway`: the cost of a hop through trunkline, compared with a minimal proxy
//! in the same run.
//!
//! It needs a harness: a folder whose `target/release` has `upstream` (a fast MCP server), `load`
//! (a load generator that prints one line of JSON) and `floor` (a proxy that does next to
//! nothing). With `--peers FOLDER`, the gateways of the harness' `peers.json` that are installed
//! in that folder are measured too; with `--before PROGRAM`, another build of trunkline. Each hop
//! is a process of its own; the hops take turns within each round, and the table shows medians
//! over the rounds.

mod configured;
mod harness;
mod hop;
mod kind;
mod nginx;
mod peers;
mod table;
pub(super) mod tls;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::ROUNDS;
use crate::arguments::Arguments;
use crate::process;
use crate::workspace::Workspace;
use harness::{Harness, Sample, free_address};
use hop::{Hop, Running};
use kind::Kind;
use peers::{Peer, PeerPaths};

const SECONDS: f64 = 4.0;
/// Modes of the load generator, each with its number of concurrent callers.
const MODES: [(&str, usize); 5] = [("echo", 1), ("echo", 32), ("echo", 256), ("blob", 4), ("list", 8)];

/// One part of the table: the samples of every hop under one load, by the hop's name.
struct Row {
    mode: &'static str,
    callers: usize,
    samples: Vec<(String, Vec<Sample>)>,
}

/// All hops that take turns in a round.
struct Benchmark {
    harness: Harness,
    upstream: Running,
    trunkline: PathBuf,
    /// Another build of trunkline, measured in the same run.
    before: Option<PathBuf>,
    kinds: Vec<Kind>,
    peers: Option<(PeerPaths, Vec<Peer>)>,
}

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let folder = arguments.value("--harness")?.map(PathBuf::from).context(
        "bench gateway needs a harness: --harness FOLDER, whose target/release has `upstream`, `load` and `floor`",
    )?;
    let paths = arguments
        .value("--peers")?
        .map(|peers| PeerPaths { harness: folder.clone(), peers: PathBuf::from(peers) });
    let before = arguments.value("--before")?.map(PathBuf::from);
    let seconds = arguments.parsed("--seconds")?.unwrap_or(SECONDS);
    let rounds = arguments.parsed("--rounds")?.unwrap_or(ROUNDS).max(1);
    let only = arguments.values("--only")?;
    let modes = arguments.values("--mode")?;
    arguments.finish()?;
    let harness = Harness::at(&folder, seconds)?;
    let peers = paths.map(|paths| installed(&folder, paths, &only)).transpose()?;
    let names: Vec<&str> = peers.iter().flat_map(|(_, peers)| peers).map(|peer| peer.name.as_str()).collect();
    let kinds = Kind::chosen(&only, &names)?;
    let address = match peers {
        Some(_) => peers::UPSTREAM.parse().context("the upstream's address")?,
        None => free_address()?,
    };

    process::run(&mut workspace.cargo(&["build", "--release", "--package", "trunkline"]))?;
    let trunkline = workspace.target().join("release/trunkline");
    let upstream = harness.upstream(address)?;
    let benchmark = Benchmark { harness, upstream, trunkline, before, kinds, peers };
    println!("\n{rounds} rounds of {seconds} s for each");
    let wanted = |(mode, _): &(&str, usize)| modes.is_empty() || modes.iter().any(|only| only == mode);
    let mut rows: Vec<Row> = MODES
        .into_iter()
        .filter(wanted)
        .map(|(mode, callers)| Row { mode, callers, samples: Vec::new() })
        .collect();
    for round in 1..=rounds {
        benchmark.round(round, &mut rows)?;
    }
    println!("\n{}\n{}", table::render(&rows), table::verdict(&rows));
    Ok(())
}

/// Returns the requested peers that are installed, and prints a line for each that is not.
fn installed(harness: &Path, paths: PeerPaths, only: &[String]) -> Result<(PeerPaths, Vec<Peer>)> {
    let mut peers = peers::read(harness)?;
    // `Kind` starts some of them already.
    peers.retain(|peer| Kind::named(&peer.name).is_none());
    peers.retain(|peer| only.is_empty() || only.contains(&peer.name));
    peers.retain(|peer| match peer.missing(&paths) {
        Some(program) => {
            println!("{} is skipped: {program} is not installed", peer.name);
            false
        }
        None => true,
    });
    Ok((paths, peers))
}

impl Benchmark {
    /// Starts each hop in turn, measures it under all loads, and stops it.
    fn round(&self, round: usize, rows: &mut [Row]) -> Result<()> {
        for &kind in &self.kinds {
            let Some(hop) = kind.start(&self.harness, &self.upstream, &self.trunkline)? else {
                println!("{} is skipped: it is not on the PATH", kind.name());
                continue;
            };
            for row in rows.iter_mut() {
                self.sample(round, row, &hop)?;
            }
            drop(hop);
            let Some(before) = self.before.as_ref().filter(|_| kind.is_trunkline()) else { continue };
            if let Some(mut hop) = kind.start(&self.harness, &self.upstream, before)? {
                hop.name.push_str("-before");
                for row in rows.iter_mut() {
                    self.sample(round, row, &hop)?;
                }
            }
        }
        let Some((paths, peers)) = &self.peers else { return Ok(()) };
        for peer in peers {
            // A peer that fails to start is reported; the run goes on without it.
            match peer.start(&self.harness, &self.upstream, paths) {
                Ok(hop) => {
                    for row in rows.iter_mut().filter(|row| peer.takes(row.mode, row.callers)) {
                        self.sample(round, row, &hop).unwrap_or_else(|error| println!("{error:#}"));
                    }
                }
                Err(error) => println!("{} is skipped in round {round}: {error:#}", peer.name),
            }
        }
        Ok(())
    }

    fn sample(&self, round: usize, row: &mut Row, hop: &Hop) -> Result<()> {
        let sample = self.harness.load(row.mode, row.callers, hop, &self.upstream)?;
        println!("{} × {}, round {round}: {} {sample}", row.mode, row.callers, hop.name);
        match row.samples.iter_mut().find(|(name, _)| *name == hop.name) {
            Some((_, samples)) => samples.push(sample),
            None => row.samples.push((hop.name.clone(), vec![sample])),
        }
        Ok(())
    }
}
