//! `cargo xtask conformance client|server`: runs the official suites' scenarios for one side.

use std::env;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::arguments::Arguments;
use crate::conformance::{self, Client, EXAMPLE, LIMIT, Report, SERVER_EXAMPLE};
use crate::peers;
use crate::process;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let side = arguments.word();
    let only = arguments.values("--only")?;
    let command = arguments.value("--command")?;
    let limit = arguments.parsed("--timeout")?.map_or(LIMIT, Duration::from_secs);
    arguments.finish()?;
    let build = |example| {
        process::run(&mut workspace.cargo(&["build", "--package", "trunkline", "--example", example]))
    };
    let reports = match (side.as_deref(), command) {
        (Some("client"), command) => {
            let client = if let Some(command) = command {
                Client { command, folder: env::current_dir()?, limit }
            } else {
                build(EXAMPLE)?;
                Client { limit, ..Client::example(workspace)? }
            };
            conformance::run_client(workspace, &peers::install(&workspace.peers())?, client, &only)?
        }
        (Some("server"), None) => {
            build(SERVER_EXAMPLE)?;
            conformance::run_server(workspace, &peers::install(&workspace.peers())?, &only)?
        }
        _ => bail!("say which side to test: cargo xtask conformance client|server"),
    };
    conclude(&reports)
}

/// Returns an error if a scenario failed.
pub(super) fn conclude(reports: &[Report]) -> Result<()> {
    println!();
    for report in reports {
        println!("{}", report.closing_line());
    }
    match reports.iter().map(Report::failed).sum() {
        0 => Ok(()),
        1_usize => bail!("1 scenario failed; its traces are in target/conformance"),
        failed => bail!("{failed} scenarios failed; their traces are in target/conformance"),
    }
}
