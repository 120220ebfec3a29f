//! One file per command.

pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod auth;
pub(crate) mod bridge;
pub(crate) mod call;
pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod config;
#[cfg(feature = "documents")]
pub(crate) mod convert;
pub(crate) mod doctor;
mod each_server;
mod edit_file;
pub(crate) mod executions;
pub(crate) mod explain;
pub(crate) mod generate;
pub(crate) mod install;
pub(crate) mod key;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod lock;
pub(crate) mod man;
pub(crate) mod operate;
pub(crate) mod policy;
pub(crate) mod prompt;
pub(crate) mod read;
pub(crate) mod secret;
pub(crate) mod serve;
pub(crate) mod servers;
pub(crate) mod status;

use crate::{
    args::{Command, OutputArgs},
    environment::Environment,
    failure::Failure,
    terminal::Screen,
    wire::gateway::operate::Operation,
};
use serde::Serialize;
use servers::Edit;
use std::{io, sync::Arc};
use trunkline_protocol::{Fault, FaultKind, Raw};

/// The parts that every command needs.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) environment: Environment,
    pub(crate) screen: Arc<Screen>,
    pub(crate) output: OutputArgs,
}

/// Result of a command that ran to its end; decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Fine,
    /// The tool reported an error.
    ToolError,
    /// There is no connection.
    Unreachable,
    /// There are findings at or above the level that fails the run.
    Findings,
}

pub(crate) fn run(context: &Context, command: Command) -> Result<Ending, Failure> {
    match command {
        Command::List(args) => list::run(context, &args),
        Command::Call(args) => call::run(context, &args),
        Command::Read(args) => read::run(context, &args),
        Command::Prompt(args) => prompt::run(context, &args),
        Command::Complete(args) => complete::run(context, &args),
        Command::Bridge(args) => bridge::run(context, &args),
        #[cfg(feature = "documents")]
        Command::Convert(args) => convert::run(context, &args),
        Command::Doctor(args) => doctor::run(context, &args),
        Command::Lint(args) => lint::run(context, &args),
        Command::Serve(args) => serve::run(context, &args),
        Command::Status(args) => status::run(context, &args),
        Command::Start(args) => operate::run(context, &args, Operation::Start),
        Command::Stop(args) => operate::run(context, &args, Operation::Stop),
        Command::Restart(args) => operate::run(context, &args, Operation::Restart),
        Command::Auth(args) => auth::run(context, &args),
        Command::Add(args) => servers::add(context, &args),
        Command::Remove(args) => servers::change_one(context, &args, Edit::Remove),
        Command::Enable(args) => servers::change_one(context, &args, Edit::Enable),
        Command::Disable(args) => servers::change_one(context, &args, Edit::Disable),
        Command::Install(args) => install::install(context, &args),
        Command::Uninstall(args) => install::uninstall(context, &args),
        Command::Lock(args) => lock::run(context, &args),
        Command::Executions(args) => executions::run(context, &args),
        Command::Approvals(args) => approvals::run(context, &args),
        Command::Explain(args) => explain::run(context, &args),
        Command::Policy(args) => policy::run(context, &args),
        Command::Audit(args) => audit::run(context, &args),
        Command::Key(args) => key::run(context, &args),
        Command::Secret(args) => secret::run(context, &args),
        Command::Config(args) => config::run(context, &args),
        Command::Completions(args) => completions::run(context, args),
        Command::Man(args) => man::run(context, &args),
        Command::Generate(args) => generate::run(&args),
    }
}

impl Context {
    /// Prints a result as text.
    pub(crate) fn print(&self, text: &str) -> Result<Ending, Failure> {
        self.screen.data(text).map(|()| Ending::Fine).map_err(|error| unwritable(&error))
    }

    /// Prints a result as JSON.
    pub(crate) fn print_json<T: Serialize + ?Sized>(&self, value: &T) -> Result<Ending, Failure> {
        let raw = Raw::encode(value).map_err(|error| Fault::new(FaultKind::BadAnswer, error.to_string()))?;
        self.screen.json(&raw).map(|()| Ending::Fine).map_err(|error| unwritable(&error))
    }
}

/// Parses `name=value` words; all values are strings.
fn pairs(words: &[&str]) -> Result<Vec<(String, String)>, Failure> {
    let read = |word: &&str| {
        let pair = crate::arguments::pair(word).map(|(name, value)| (name.to_owned(), value.to_owned()));
        pair.ok_or_else(|| Failure::usage(format!("`{word}` is not an argument; write `name=value`")))
    };
    words.iter().map(read).collect()
}

fn unwritable(error: &io::Error) -> Failure {
    Failure::usage(format!("the output cannot be written: {error}"))
}

impl From<Ending> for std::process::ExitCode {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Fine => Self::SUCCESS,
            Ending::ToolError | Ending::Findings => Self::from(1),
            Ending::Unreachable => Self::from(3),
        }
    }
}
