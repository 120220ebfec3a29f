//! `serve`: announced, not there yet.

use super::Ending;
use crate::failure::Failure;

/// Serve many servers as one (comes with the next release)
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<String>,
}

pub(crate) fn run(_args: &Args) -> Result<Ending, Failure> {
    Err(Failure::usage("`serve` comes with the next release; this one is a client")
        .hint("these work today: list, call, read, prompt, complete")
        .hint("try: trunkline list -- npx -y @modelcontextprotocol/server-everything"))
}
