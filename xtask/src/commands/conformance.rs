//! `cargo xtask conformance client`: the official suites' client scenarios.

use std::env;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::arguments::Arguments;
use crate::conformance::{self, Client, EXAMPLE, LIMIT};
use crate::peers;
use crate::process;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let side = arguments.word();
    let only = arguments.values("--only")?;
    let command = arguments.value("--command")?;
    let limit = arguments.parsed("--timeout")?.map_or(LIMIT, Duration::from_secs);
    arguments.finish()?;
    if side.as_deref() != Some("client") {
        bail!("say which side to test: cargo xtask conformance client");
    }
    let mut client = if let Some(command) = command {
        Client { command, folder: env::current_dir()?, limit }
    } else {
        process::run(&mut workspace.cargo(&["build", "--package", "trunkline", "--example", EXAMPLE]))?;
        Client::example(workspace)?
    };
    client.limit = limit;
    let peers = peers::install(&workspace.peers())?;
    let reports = conformance::run(workspace, &peers, &client, &only)?;
    println!();
    for report in &reports {
        println!("{}", report.closing_line());
    }
    match reports.iter().map(conformance::Report::failed).sum() {
        0 => Ok(()),
        1_usize => bail!("1 scenario failed; its traces are in target/conformance"),
        failed => bail!("{failed} scenarios failed; their traces are in target/conformance"),
    }
}
