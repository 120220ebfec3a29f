//! `config`: checks, shows and approves the configuration, and imports those of other clients.

mod approve;
mod check;
mod import;
mod show;

use super::{Context, Ending};
use crate::failure::Failure;
use clap::Subcommand;

/// Check, show, import or approve the configuration
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Approve(approve::Args),
    Check(check::Args),
    Show(show::Args),
    Import(import::Args),
    /// Print the JSON Schema of `trunkline.json`, for editors
    Schema,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    match &args.command {
        Command::Approve(args) => approve::run(context, args),
        Command::Check(args) => check::run(context, args),
        Command::Show(args) => show::run(context, args),
        Command::Import(args) => import::run(context, args),
        Command::Schema => context.print(&trunkline_config::schema_json()),
    }
}
