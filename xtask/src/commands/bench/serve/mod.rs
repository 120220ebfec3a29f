//! `cargo xtask bench serve`: the cost of a call at our server, compared with rmcp's, FastMCP and
//! the TypeScript SDK's in the same run.
//!
//! Every server is a separate process and is called by our client. The servers take turns within
//! each round, so that other load on the machine affects all of them; the table shows medians over
//! the rounds.

mod server;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::run::{self, Load, Run};
use super::{ROUNDS, concurrency};
use crate::arguments::Arguments;
use crate::process;
use crate::workspace::Workspace;
use server::{Kind, Server};

const SECONDS: f64 = 2.0;
const ERAS: [&str; 2] = ["modern", "legacy"];
const ASKS: [&str; 2] = ["call", "list"];

/// One part of the table: the runs of every server under one load.
struct Row {
    ask: &'static str,
    era: &'static str,
    concurrency: usize,
    runs: Vec<(Kind, Vec<Run>)>,
}

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let peers = arguments.value("--peers")?.map_or_else(|| workspace.peers(), PathBuf::from);
    let seconds = arguments.parsed("--seconds")?.unwrap_or(SECONDS);
    let rounds = arguments.parsed("--rounds")?.unwrap_or(ROUNDS).max(1);
    let concurrency = concurrency(&mut arguments)?;
    let only = arguments.values("--only")?;
    arguments.finish()?;
    let kinds = Kind::chosen(&only)?;

    process::run(&mut workspace.cargo(&["build", "--profile", "bench", "--package", "trunkline-bench"]))?;
    let programs = workspace.target().join("release");
    let mut servers = Vec::new();
    for kind in kinds {
        match server::command(kind, &programs, workspace.root(), &peers)? {
            Some(command) => servers.push(Server::start(kind, command)?),
            None => println!("{} is skipped: `cargo xtask peers` installs it", kind.name()),
        }
    }
    println!("\n{rounds} rounds of {seconds} s for each server");
    let client = programs.join("bench-client");
    let mut rows = Vec::new();
    for ask in ASKS {
        for era in ERAS {
            for &concurrency in &concurrency {
                let mut row = Row::new(ask, era, concurrency, &servers);
                for round in 1..=rounds {
                    row.round(&client, &servers, Load { concurrency, seconds }, round)?;
                }
                rows.push(row);
            }
        }
    }
    println!("\n{}\n{}", table::render(&rows), table::verdict(&rows));
    Ok(())
}

impl Row {
    fn new(ask: &'static str, era: &'static str, concurrency: usize, servers: &[Server]) -> Self {
        let kinds = servers.iter().map(|server| server.kind).filter(|kind| kind.speaks(era));
        Self { ask, era, concurrency, runs: kinds.map(|kind| (kind, Vec::new())).collect() }
    }

    fn round(&mut self, client: &Path, servers: &[Server], load: Load, round: usize) -> Result<()> {
        for (kind, runs) in &mut self.runs {
            let server = servers.iter().find(|server| server.kind == *kind).expect("each row is of servers");
            let mut command = Command::new(client);
            command.args(["--client", "trunkline", "--era", self.era, "--ask", self.ask]);
            command.args(["--url", server.url(), "--watch", &server.process().to_string()]);
            let run = run::once(command.args(load.arguments()))?;
            let (ask, era, callers) = (self.ask, self.era, load.concurrency);
            println!("{ask} {era} × {callers}, round {round}: {} {run}", kind.name());
            runs.push(run);
        }
        Ok(())
    }
}
