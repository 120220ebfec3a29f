//! Output options, shared by all commands.

use clap::{ArgAction, Args, ValueEnum};

#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print results as JSON, exactly as the server sent them, and errors as one JSON object on
    /// stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Colors,
    /// Log more; repeat (-vv) to log everything
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,
    /// Print errors only
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colors {
    /// Only if the output is a terminal
    #[default]
    Auto,
    Always,
    Never,
}
