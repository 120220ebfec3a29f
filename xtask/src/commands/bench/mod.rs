//! `cargo xtask bench`: the cost of a call with our client (here), at our server ([`serve`]) and
//! through our gateway ([`gateway`]), compared with other implementations in one run.
//!
//! Every client is a separate process, so that its CPU time can be measured alone. The clients
//! take turns within each round, so that other load on the machine affects all of them; the table
//! shows medians over the rounds.

mod case;
mod documents;
mod gateway;
mod http1;
mod median;
mod rest;
mod run;
mod serve;
mod table;
mod upstream;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::arguments::Arguments;
use crate::process;
use crate::workspace::Workspace;
use case::{CASES, Case};
use run::{Load, Run};
use upstream::Upstream;

const SECONDS: f64 = 3.0;
const ROUNDS: usize = 3;
const CONCURRENCY: [usize; 2] = [1, 32];

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    match arguments.word().as_deref() {
        Some("client") => client(workspace, arguments),
        Some("serve") => serve::run(workspace, arguments),
        Some("gateway") => gateway::run(workspace, arguments),
        Some("tls") => gateway::tls::run(workspace, arguments),
        Some("http1") => http1::run(workspace, arguments),
        Some("rest") => rest::run(workspace, arguments),
        Some("documents") => documents::run(workspace, arguments),
        Some("audit") => part(workspace, arguments, ["trunkline-gateway", "audit"]),
        Some("policy") => part(workspace, arguments, ["trunkline-gateway", "policy"]),
        Some("timers") => part(workspace, arguments, ["trunkline-resilience", "timers"]),
        _ => bail!(
            "expected `bench client`, `serve`, `gateway`, `tls`, `http1`, `rest`, `documents`, `audit`, `policy` or `timers`"
        ),
    }
}

/// Runs a `cargo bench` target of the package that it measures.
fn part(workspace: &Workspace, arguments: Arguments, [package, bench]: [&str; 2]) -> Result<()> {
    arguments.finish()?;
    process::run(&mut workspace.cargo(&["bench", "--package", package, "--bench", bench]))
}

fn client(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let given = arguments.value("--upstream")?.map(PathBuf::from);
    let seconds = arguments.parsed("--seconds")?.unwrap_or(SECONDS);
    let rounds = arguments.parsed("--rounds")?.unwrap_or(ROUNDS).max(1);
    let concurrency = concurrency(&mut arguments)?;
    let only = arguments.values("--only")?;
    arguments.finish()?;
    let cases = chosen(&only)?;

    process::run(&mut workspace.cargo(&["build", "--profile", "bench", "--package", "trunkline-bench"]))?;
    let programs = workspace.target().join("release");
    let server = given.unwrap_or_else(|| programs.join("bench-upstream"));
    println!("\n{rounds} rounds of {seconds} s for each client, against {}", shown(&server));
    let mut rows = Vec::new();
    for case in cases {
        let upstream = Upstream::start(&server, case)?;
        for &concurrency in &concurrency {
            let load = Load { concurrency, seconds };
            rows.push(measure(&programs.join("bench-client"), &upstream, case, load, rounds)?);
        }
    }
    println!("\n{}\n{}", table::render(&rows), table::verdict(&rows));
    Ok(())
}

/// One line of the table: the runs of every client under one load.
struct Row {
    case: &'static Case,
    concurrency: usize,
    /// One list of runs per client of the case, in the same order.
    runs: Vec<Vec<Run>>,
}

fn measure(
    program: &Path,
    upstream: &Upstream,
    case: &'static Case,
    load: Load,
    rounds: usize,
) -> Result<Row> {
    let mut runs = vec![Vec::new(); case.clients.len()];
    for round in 1..=rounds {
        for (client, runs) in case.clients.iter().zip(&mut runs) {
            let mut command = Command::new(program);
            command.args(["--client", client.name(), "--era", case.era]);
            let run = run::once(command.args(load.arguments()).args(upstream.arguments()))?;
            println!("{} × {}, round {round}: {} {run}", case.name, load.concurrency, client.name());
            runs.push(run);
        }
    }
    Ok(Row { case, concurrency: load.concurrency, runs })
}

/// Numbers of concurrent callers, one for each part of the table.
fn concurrency(arguments: &mut Arguments) -> Result<Vec<usize>> {
    let mut given = Vec::new();
    while let Some(number) = arguments.parsed("--concurrency")? {
        given.push(number);
    }
    Ok(if given.is_empty() { CONCURRENCY.to_vec() } else { given })
}

fn chosen(only: &[String]) -> Result<Vec<&'static Case>> {
    if let Some(unknown) = only.iter().find(|name| !CASES.iter().any(|case| case.name == **name)) {
        let names: Vec<_> = CASES.iter().map(|case| case.name).collect();
        bail!("there is no case {unknown}; there are {}", names.join(", "));
    }
    Ok(CASES.iter().filter(|case| only.is_empty() || only.iter().any(|name| name == case.name)).collect())
}

fn shown(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
