//! Reads the configuration: where its files are on this machine, and what the environment holds.

use crate::{
    commands::Context,
    environment::{self, Environment},
    failure::Failure,
    render::{problems, safe},
};
use std::path::{Path, PathBuf};
use trunkline_config::{
    Approvals, Flag, FoundFile, FoundFiles, Inputs, Loaded, NoKeychain, Problem, Rejected,
};

/// The configuration with all its layers; `file` takes the place of the one found upwards from the
/// current directory. A found file that nobody approved is left out, and the log says so.
pub(crate) fn read(
    environment: &Environment,
    file: Option<&Path>,
    flags: Vec<Flag>,
) -> Result<Result<Loaded, Box<Rejected>>, Failure> {
    let read = load_with(environment, file, flags, FoundFiles::IfApproved)?;
    let waiting = match &read {
        Ok(loaded) => &loaded.waiting,
        Err(rejected) => &rejected.waiting,
    };
    if let Some(waiting) = waiting {
        tracing::warn!("{}", waits(waiting));
    }
    Ok(read)
}

/// The same with a found file as if it were approved: to look at it, and for nothing else.
pub(crate) fn preview(
    environment: &Environment,
    file: Option<&Path>,
) -> Result<Result<Loaded, Box<Rejected>>, Failure> {
    load_with(environment, file, Vec::new(), FoundFiles::Preview)
}

fn load_with(
    environment: &Environment,
    file: Option<&Path>,
    flags: Vec<Flag>,
    found: FoundFiles,
) -> Result<Result<Loaded, Box<Rejected>>, Failure> {
    let named = environment.get_filled(environment::CONFIG).map(PathBuf::from);
    Ok(trunkline_config::load(&Inputs {
        directory: directory()?,
        file: file.map(Path::to_owned).or(named),
        found,
        approvals: approvals_file(environment).ok(),
        user_directory: user_directory(environment),
        home: home(environment),
        variables: environment.texts(),
        flags,
        secrets: &NoKeychain,
    }))
}

/// Why a file that was found is not used, and what to do, in one line.
pub(crate) fn waits(found: &FoundFile) -> String {
    let path = safe::line(&found.path.display().to_string());
    format!(
        "{path} is not used: it was found here and not approved as it is now; see `trunkline config approve`"
    )
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

/// The project files that the user agreed to.
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

pub(crate) fn approvals_file(environment: &Environment) -> Result<PathBuf, Failure> {
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
