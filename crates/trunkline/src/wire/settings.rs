//! Reads the configuration: where its files are on this machine, and what the environment holds.

use crate::{
    commands::Context,
    environment::{self, Environment},
    failure::Failure,
    render::problems,
};
use std::path::{Path, PathBuf};
use trunkline_config::{Approvals, Flag, Inputs, Loaded, NoKeychain, Problem, Rejected};

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
    match read(&context.environment, file, flags)? {
        Ok(loaded) => {
            if !context.output.quiet {
                context.screen.tell(&problems::text(&loaded.warnings, &loaded.layered.sources));
            }
            Ok(loaded)
        }
        Err(rejected) => {
            context.screen.tell(&problems::text(&rejected.problems, &rejected.sources));
            Err(Failure::usage(rejected.to_string()).hint("see `trunkline config check`"))
        }
    }
}

/// Takes out the servers of a project's file that nobody agreed to start: whoever wrote the file may be a stranger. Tells which.
pub(crate) fn leave_out_unapproved(
    environment: &Environment,
    loaded: &mut Loaded,
) -> Result<Vec<String>, Failure> {
    if loaded.asked.is_empty() {
        return Ok(Vec::new());
    }
    let unapproved = loaded.unapproved(&approvals(environment)?);
    for name in &unapproved {
        loaded.settings.servers.remove(name);
    }
    Ok(unapproved.iter().map(ToString::to_string).collect())
}

/// The launches of projects' servers that were agreed to.
pub(crate) fn approvals(environment: &Environment) -> Result<Approvals, Failure> {
    let path = approvals_file(environment)?;
    Approvals::read(&path)
        .map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))
}

pub(crate) fn keep_approvals(environment: &Environment, approvals: &Approvals) -> Result<(), Failure> {
    let path = approvals_file(environment)?;
    approvals
        .write(&path)
        .map_err(|error| Failure::usage(format!("{} cannot be written: {error}", path.display())))
}

fn approvals_file(environment: &Environment) -> Result<PathBuf, Failure> {
    let chosen = environment.get_filled(environment::STATE_HOME).map(PathBuf::from);
    let state = chosen.or_else(|| home(environment).map(|home| home.join(".local/state")));
    let none = || Failure::usage("there is no home directory to keep approvals in");
    state.map(|state| state.join("trunkline/approved.json")).ok_or_else(none)
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
