//! A command to start: program, arguments, working directory and environment.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::process;

use crate::{confinement::Confinement, environment, group::Containment, lookup, spawn_error::SpawnError};

/// A program with its arguments.
///
/// A bare program name is looked up in the `PATH` that the child gets, not in ours; a relative
/// path with a slash is relative to the child's working directory.
#[derive(Clone)]
pub struct Command {
    /// Program name or path.
    pub program: OsString,
    /// Arguments, not counting the program.
    pub args: Vec<OsString>,
    /// Variables for this child; they override inherited ones.
    pub env: Vec<(OsString, OsString)>,
    /// This process's environment, read by the binary; only variables that are
    /// [inherited](crate::is_inherited) are used.
    pub inherited: Vec<(OsString, OsString)>,
    /// Working directory; this process's own if absent.
    pub directory: Option<PathBuf>,
    /// The method of tracking its processes.
    pub containment: Containment,
    /// Grace period for the rest of its group to exit after the leader. Processes that remain are
    /// named in [`Departure::survivors`](crate::Departure::survivors) and killed; with zero they
    /// are killed at once.
    pub grace: Duration,
    /// The files that it can access; all if absent.
    pub confinement: Option<Confinement>,
}

impl Command {
    /// A command without arguments and with an empty environment.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            inherited: Vec::new(),
            directory: None,
            containment: Containment::default(),
            grace: Duration::ZERO,
            confinement: None,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item: AsRef<OsStr>>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Adds variables to its environment.
    #[must_use]
    pub fn envs<N: AsRef<OsStr>, V: AsRef<OsStr>>(mut self, env: impl IntoIterator<Item = (N, V)>) -> Self {
        self.env.extend(
            env.into_iter().map(|(name, value)| (name.as_ref().to_owned(), value.as_ref().to_owned())),
        );
        self
    }

    /// Sets its working directory.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// The whole environment of the child: the allowed inherited variables, then the given ones.
    fn environment(&self) -> Vec<(OsString, OsString)> {
        let is_given = |name: &OsString| self.env.iter().any(|(given, _)| given == name);
        let inherited = environment::inherited(&self.inherited).filter(|(name, _)| !is_given(name));
        inherited.chain(&self.env).chain(self.containment.variable().as_ref()).cloned().collect()
    }

    /// The value of one variable in the child's environment.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        self.environment().into_iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Starts it with stdout and stderr as pipes, leading a process group of its own.
    ///
    /// With a `setup`, a shell first runs this script and then `exec`s the program.
    pub(crate) fn start(&self, stdin: Stdio, setup: Option<&str>) -> Result<process::Child, SpawnError> {
        let path = lookup::find(self)?;
        tracing::debug!(program = %path.display(), "starting");
        let mut system = process::Command::new(setup.map_or(path.as_path(), |_| Path::new(SHELL)));
        match setup {
            None => system.arg0(&self.program),
            Some(setup) => system.arg("-c").arg(format!("{setup}exec \"$@\"")).arg("sh").arg(&path),
        };
        system.args(&self.args).env_clear().envs(self.environment());
        system.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        system.process_group(0).kill_on_drop(true);
        if let Some(directory) = &self.directory {
            system.current_dir(directory);
        }
        let started = match &self.confinement {
            Some(confinement) => confinement.spawn(&mut system),
            None => system.spawn(),
        };
        started.map_err(|error| SpawnError::from_system(&path, error))
    }
}

/// All systems that we support have a POSIX shell at this path.
pub(crate) const SHELL: &str = "/bin/sh";

/// Shows the names of variables, but never their values, which may be credentials.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &names)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: &str) -> (OsString, OsString) {
        (name.into(), value.into())
    }

    #[test]
    fn given_variables_win_over_inherited_ones() {
        let mut command = Command::new("x");
        command.inherited =
            vec![pair("PATH", "/inherited"), pair("HOME", "/home/a"), pair("TOKEN", "secret")];
        command.env = vec![pair("PATH", "/given"), pair("API_KEY", "k")];
        assert_eq!(
            command.environment(),
            [pair("HOME", "/home/a"), pair("PATH", "/given"), pair("API_KEY", "k")]
        );
        assert_eq!(command.variable("PATH"), Some("/given".into()));
        assert_eq!(command.variable("TOKEN"), None);
    }

    #[test]
    fn debug_output_holds_no_values() {
        let mut command = Command::new("x");
        command.env = vec![pair("API_KEY", "canary")];
        command.inherited = vec![pair("HOME", "canary")];
        let text = format!("{command:?}");
        assert!(text.contains("API_KEY") && !text.contains("canary"), "{text}");
    }
}
