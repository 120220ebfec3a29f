//! Reads the configuration: where its files are on this machine, and what the environment holds.

use crate::{
    commands::Context,
    environment::{self, Environment},
    failure::Failure,
};
use std::path::{Path, PathBuf};
use trunkline_config::{Flag, Inputs, Loaded, NoKeychain, Problem, Rejected};

/// The configuration with all its layers; `file` takes the place of the one found upwards from the current directory.
pub(crate) fn read(
    environment: &Environment,
    file: Option<&Path>,
    flags: Vec<Flag>,
) -> Result<Result<Loaded, Box<Rejected>>, Failure> {
    let named = environment.get_filled(environment::CONFIG).map(PathBuf::from);
    Ok(trunkline_config::load(&Inputs {
        directory: directory()?,
        file: file.map(Path::to_owned).or(named),
        user_directory: user_directory(environment),
        home: home(environment),
        variables: environment.texts(),
        flags,
        secrets: &NoKeychain,
    }))
}

/// The same for commands that need settings: problems are told, and an error ends the command.
pub(crate) fn load(context: &Context, file: Option<&Path>, flags: Vec<Flag>) -> Result<Loaded, Failure> {
    let told = |problem: &Problem| {
        format!("{}:{}:{}: {}", problem.file, problem.line, problem.column, problem.message)
    };
    match read(&context.environment, file, flags)? {
        Ok(loaded) => {
            loaded.warnings.iter().for_each(|problem| context.screen.note(&told(problem)));
            Ok(loaded)
        }
        Err(rejected) => {
            rejected.problems.iter().for_each(|problem| context.screen.note(&told(problem)));
            Err(Failure::usage(rejected.to_string()).hint("see `trunkline config check`"))
        }
    }
}

/// The user's configuration directory of ours.
pub(crate) fn user_directory(environment: &Environment) -> Option<PathBuf> {
    let chosen = environment.get_filled(environment::CONFIG_HOME).map(PathBuf::from);
    chosen.or_else(|| home(environment).map(|home| home.join(".config"))).map(|path| path.join("trunkline"))
}

pub(crate) fn home(environment: &Environment) -> Option<PathBuf> {
    environment.get_filled(environment::HOME).map(PathBuf::from)
}

/// Where we are.
pub(crate) fn directory() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::usage(format!("the current directory cannot be found: {error}")))
}

/// A problem on one line.
pub(crate) fn one_line(problem: &Problem) -> String {
    let suggestion = problem.suggestion.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
    format!("{}:{}:{}: {}{suggestion}", problem.file, problem.line, problem.column, problem.message)
}
