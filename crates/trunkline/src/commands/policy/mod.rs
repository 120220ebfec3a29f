//! `policy`: tries the rules without a call.

mod expectations;
mod recorded;
mod replay;
mod test;

use super::{Context, Ending};
use crate::{failure::Failure, wire::settings};
use clap::Subcommand;
use std::path::PathBuf;
use trunkline_config::Loaded;
use trunkline_gateway::policy::{Access, Denial};

/// Try the rules of the policy without making a call
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare the decisions of the policy with a table of expectations
    ///
    /// The file is JSON: `{"expect": [{"tool": "files_write_file", "caller": "dev", "arguments":
    /// {"path": "deploy/a"}, "decision": "deny"}]}`. A decision is `allow`, `ask`, `deny` or
    /// `hidden`. Optional members: `name`, `caller`, `roles`, `scopes`, `claims`, `client`, `view`,
    /// `arguments`, `at` (a time) and `rule` (the name of the rule that must decide). Exit status:
    /// 0 all are met, 1 at least one is not, 2 the file or the configuration cannot be used.
    Test {
        /// File with the expectations
        file: PathBuf,
        #[command(flatten)]
        source: Source,
    },
    /// Tell which recorded calls this policy would decide otherwise
    ///
    /// The audit trail has names of arguments, not their values, and of a token only its subject. A
    /// call whose decision depends on them is counted as undecided. Exit status: 0 no decision
    /// differs, 1 at least one does, 2 the trail or the configuration cannot be used.
    Replay {
        /// Directory of the audit trail, as printed by `serve`
        #[arg(long, value_name = "DIR")]
        against: PathBuf,
        /// Number of records to read, counted from the end
        #[arg(long, value_name = "NUMBER", default_value_t = 100_000)]
        last: usize,
        #[command(flatten)]
        source: Source,
    },
}

#[derive(Debug, clap::Args)]
struct Source {
    /// Read this file instead of the nearest `trunkline.json` in the current directory or above
    /// it; your own file still counts
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    match &args.command {
        Command::Test { file, source } => test::run(context, file, &source.load(context)?),
        Command::Replay { against, last, source } => {
            replay::run(context, (against, *last), &source.load(context)?)
        }
    }
}

impl Source {
    fn load(&self, context: &Context) -> Result<Loaded, Failure> {
        settings::load(context, self.config.as_deref(), Vec::new())
    }
}

/// A decision as it is written in expectations and reports.
fn word(access: Option<&Access>) -> &'static str {
    match access {
        Some(Access::Allowed) => "allow",
        Some(Access::Ask(_)) => "ask",
        Some(Access::Denied(Denial::Call { .. })) => "deny",
        Some(Access::Denied(Denial::Hidden)) | None => "hidden",
    }
}
