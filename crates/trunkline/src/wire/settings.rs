//! Reads the configuration from its files on this machine and the environment.

use crate::{
    commands::Context,
    environment::{self, Environment},
    failure::Failure,
    remembered::cache_directory,
    render::{problems, safe},
    vault::Vault,
    wire::account::logins_directory,
};
use std::path::{Path, PathBuf};
use trunkline_config::{
    Flag, FoundFile, Inputs, Loaded, NotApproved, Preview, Problem, Rejected, Seen, Settings,
};

/// Reads all layers of the configuration; `file` replaces the one found in the current directory
/// or above it. A found file that is not approved is ignored with a log message.
pub(crate) fn read(
    environment: &Environment,
    file: Option<&Path>,
    flags: Vec<Flag>,
) -> Result<Result<Loaded, Box<Rejected>>, Failure> {
    let vault = Vault::find(environment);
    let mut read = trunkline_config::load(&inputs(environment, file, flags, &vault)?);
    if let Ok(loaded) = &mut read {
        // The lock file is part of the rules, so a change of it reloads them, and our tools must
        // not make one.
        if let Ok(lock) = lock_file(loaded) {
            loaded.guarded.push(lock.clone());
            loaded.watched.push(Seen::now(lock));
        }
        // A new secret is used without a restart.
        loaded.watched.extend(vault.path().ok().map(Seen::now));
        // Cached lists are shown to models, so our tools must not be able to change them.
        loaded.guarded.extend(cache_directory(environment));
        loaded.private.extend(logins_directory(environment));
        loaded.private.extend(vault.path().ok().map(Path::to_owned));
    }
    let waiting = match &read {
        Ok(loaded) => &loaded.waiting,
        Err(rejected) => &rejected.waiting,
    };
    if let Some(waiting) = waiting {
        tracing::warn!("{}", waits(waiting));
    }
    Ok(read)
}

/// The lock file of this configuration. It is not beside a file that was merely found if the user
/// has another: a project must not accept definitions of the user's own servers.
pub(crate) fn lock_file(loaded: &Loaded) -> Result<PathBuf, Failure> {
    if let Some(file) = &loaded.settings.lock_file {
        return Ok(file.clone());
    }
    match loaded.foremost.as_deref().and_then(Path::parent) {
        Some(folder) => Ok(folder.join(trunkline_lock::FILE_NAME)),
        None => Ok(directory()?.join(trunkline_lock::FILE_NAME)),
    }
}

/// The settings, if they can be read, for a command that needs none of them.
pub(crate) fn read_if_valid(environment: &Environment) -> Option<Settings> {
    let vault = Vault::find(environment);
    let inputs = inputs(environment, None, Vec::new(), &vault).ok()?;
    trunkline_config::load(&inputs).ok().map(|loaded| loaded.settings)
}

/// Judges the configuration with the found file as if it were approved; its references are not
/// resolved.
pub(crate) fn preview(environment: &Environment, file: Option<&Path>) -> Result<Preview, Failure> {
    let vault = Vault::find(environment);
    Ok(trunkline_config::preview(&inputs(environment, file, Vec::new(), &vault)?))
}

fn inputs<'a>(
    environment: &Environment,
    file: Option<&Path>,
    flags: Vec<Flag>,
    secrets: &'a Vault,
) -> Result<Inputs<'a>, Failure> {
    let named = environment.get_path(environment::CONFIG);
    Ok(Inputs {
        directory: directory()?,
        file: file.map(Path::to_owned).or(named),
        approvals: approvals_file(environment).ok(),
        user_directory: user_directory(environment),
        home: home(environment),
        variables: environment.texts(),
        flags,
        secrets,
    })
}

/// A one-line message: why a found file is not used, and what to do.
pub(crate) fn waits(found: &FoundFile) -> String {
    let path = safe::line(&found.path.display().to_string());
    format!(
        "{path} is not used: it was found here and not approved as it is now; see `trunkline config approve`"
    )
}

/// Like `read`, for commands that need settings: prints problems, and fails on errors.
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

/// Approves a found file as it was read.
pub(crate) fn approve(environment: &Environment, found: &FoundFile) -> Result<(), Failure> {
    trunkline_config::approve(&approvals_file(environment)?, found).map_err(|error| match &error {
        NotApproved::Path => Failure::usage(error.to_string()).hint("name the file with --config"),
        NotApproved::Read(_, cause) | NotApproved::Write(_, cause) => {
            Failure::usage(format!("{error}: {cause}"))
        }
    })
}

pub(crate) fn approvals_file(environment: &Environment) -> Result<PathBuf, Failure> {
    let none = || Failure::usage("there is no home directory to keep approvals in");
    state_home(environment).map(|state| state.join("trunkline/approved.json")).ok_or_else(none)
}

/// Trunkline's directory in the user's configuration directory.
pub(crate) fn user_directory(environment: &Environment) -> Option<PathBuf> {
    config_home(environment).map(|path| path.join("trunkline"))
}

/// The directory for the configurations of all programs.
pub(crate) fn config_home(environment: &Environment) -> Option<PathBuf> {
    environment.get_directory(environment::CONFIG_HOME).or_else(|| Some(home(environment)?.join(".config")))
}

/// The directory for data that programs keep between runs.
pub(crate) fn state_home(environment: &Environment) -> Option<PathBuf> {
    environment
        .get_directory(environment::STATE_HOME)
        .or_else(|| Some(home(environment)?.join(".local/state")))
}

pub(crate) fn home(environment: &Environment) -> Option<PathBuf> {
    environment.get_directory(environment::HOME)
}

/// The current directory.
pub(crate) fn directory() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::usage(format!("the current directory cannot be found: {error}")))
}

/// A problem on one line.
pub(crate) fn one_line(problem: &Problem) -> String {
    let suggestion = problem.suggestion.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
    format!("{}:{}:{}: {}{suggestion}", problem.file, problem.line, problem.column, problem.message)
}
