//! The command line: its commands and options, parsed by clap.

mod connection;
pub(crate) mod duration;
mod listen;
mod output;
mod program;
mod words;

use crate::commands;
use clap::{Parser, Subcommand};

pub(crate) use connection::{AskArgs, ConnectionArgs, EraChoice, IdChoice};
pub(crate) use duration::parse as parse_duration;
pub(crate) use listen::parse as parse_listen;
pub(crate) use output::{Colors, OutputArgs};
pub(crate) use program::with_separator;
pub(crate) use words::{Split, TargetWords};

/// Model Context Protocol client, server and gateway for every transport and protocol revision.
///
/// A TARGET is the address of a server (`http://…` or `https://…`), its name in the configuration
/// (`trunkline list` shows the names), or a program. With arguments, a program is written at the
/// very end, after `--`; `list`, `lint`, `doctor` and `bridge` need no `--` if their own options
/// come first. Programs are started without a shell. `{env:NAME}` and `${NAME}` are replaced by
/// environment variables in addresses, commands, headers and `--env` values.
///
/// Data goes to standard output, everything else to standard error.
#[derive(Debug, Parser)]
#[command(name = "trunkline", version, max_term_width = 100, after_long_help = AFTER)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER: &str = "\
Exit status: 0 fine, 1 the tool or server answered with an error, 2 usage or configuration, 3 cannot connect, 130 interrupted.

Examples:
  trunkline list
  trunkline list npx -y @modelcontextprotocol/server-everything
  trunkline call http://127.0.0.1:3000/mcp echo message=hello
  trunkline call get-sum a=1 b=2 -- npx -y @modelcontextprotocol/server-everything";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(commands::list::Args),
    Call(commands::call::Args),
    Read(commands::read::Args),
    Prompt(commands::prompt::Args),
    Complete(commands::complete::Args),
    Bridge(commands::bridge::Args),
    #[cfg(feature = "documents")]
    Convert(Box<commands::convert::Args>),
    Doctor(commands::doctor::Args),
    Lint(Box<commands::lint::Args>),
    Serve(commands::serve::Args),
    Status(commands::status::Args),
    /// Start a server of a running gateway that was stopped or has failed
    ///
    /// Waits until the server has connected or failed to. Its circuit breaker is closed. The act is
    /// recorded in the audit trail. Exit status: 0 the server is ready, 1 it is not, 2 the gateway
    /// has no such server or rejected the key, 3 the gateway cannot be reached.
    Start(commands::operate::Args),
    /// Stop a server of a running gateway until it is started by command
    ///
    /// New calls are refused, calls in flight may finish (`limits.drain`), then its processes end.
    /// It stays stopped when the configuration changes, until `trunkline start` or the next start
    /// of the gateway. The act is recorded in the audit trail. Exit status: 0 the server is
    /// stopped, 1 it is not, 2 the gateway has no such server or rejected the key, 3 the gateway
    /// cannot be reached.
    Stop(commands::operate::Args),
    /// Stop a server of a running gateway and start it again
    ///
    /// Like `stop` and then `start`. Exit status: 0 the server is ready, 1 it is not, 2 the gateway
    /// has no such server or rejected the key, 3 the gateway cannot be reached.
    Restart(commands::operate::Args),
    Auth(commands::auth::Args),
    /// Add a server to the configuration file
    ///
    /// Comments and layout of the file stay, and a backup is kept beside it. If the configuration
    /// could not be used with the change, the previous content is put back. A running gateway takes
    /// the change over by itself.
    Add(commands::servers::AddArgs),
    /// Remove a server from the configuration file
    Remove(commands::servers::NamedArgs),
    /// Enable a server that is disabled in the configuration file
    Enable(commands::servers::NamedArgs),
    /// Disable a server in the configuration file
    Disable(commands::servers::NamedArgs),
    /// Write Trunkline into the configuration of another client
    ///
    /// Shows the change as a diff and asks before the file is changed. A backup is kept beside it;
    /// `trunkline uninstall` takes the entry out again. Exit status: 0 changed, 1 not changed.
    Install(commands::install::InstallArgs),
    /// Take Trunkline out of the configuration of another client
    Uninstall(commands::install::UninstallArgs),
    Lock(Box<commands::lock::Args>),
    Executions(commands::executions::Args),
    /// Decide about calls that wait for consent
    ///
    /// A rule of the policy with `"effect": "ask"` makes a call wait, if the client cannot ask its
    /// user. Exit status: 0 done, 2 the gateway refused, 3 the gateway cannot be reached.
    Approvals(commands::approvals::Args),
    Explain(Box<commands::explain::Args>),
    Policy(commands::policy::Args),
    Audit(commands::audit::Args),
    Key(commands::key::Args),
    Secret(commands::secret::Args),
    Config(commands::config::Args),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
    #[command(name = "__gen", hide = true)]
    Generate(commands::generate::Args),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }
}
