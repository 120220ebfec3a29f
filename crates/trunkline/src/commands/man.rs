//! `man`: the manual pages.

use super::{Context, Ending};
use crate::{args::Cli, failure::Failure, pages};
use clap::CommandFactory;

/// Print a manual page, in roff: `trunkline man call | man -l -`
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The command to document [default: the program as a whole]
    command: Option<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let wanted =
        args.command.as_ref().map_or_else(|| "trunkline".to_owned(), |name| format!("trunkline-{name}"));
    let found = pages::manual(Cli::command()).into_iter().find(|(name, _)| *name == wanted);
    let (_, page) = found.ok_or_else(|| Failure::usage(format!("there is no page named `{wanted}`")))?;
    context.print(&page)
}
