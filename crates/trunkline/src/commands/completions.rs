//! `completions`: completion scripts for shells.

use super::{Context, Ending};
use crate::{args::Cli, failure::Failure};
use clap::CommandFactory;
use clap_complete::Shell;

/// Print the completion script for a shell
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Args {
    /// The shell that reads the script
    shell: Shell,
}

pub(crate) fn run(context: &Context, args: Args) -> Result<Ending, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "trunkline", &mut script);
    context.print(&String::from_utf8_lossy(&script))
}
