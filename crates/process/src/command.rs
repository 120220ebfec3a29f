//! What to start, where, and with which environment.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::process;

use crate::{environment, group::Containment, lookup, spawn_error::SpawnError};

/// A program with its arguments.
///
/// A bare program name is looked up in the `PATH` that the child gets, not in ours; a relative path with a slash
/// counts from the child's working directory.
#[derive(Clone)]
pub struct Command {
    /// Program name or path.
    pub program: OsString,
    /// Arguments, not counting the program.
    pub args: Vec<OsString>,
    /// Variables given to this child; they win over inherited ones.
    pub env: Vec<(OsString, OsString)>,
    /// This process's environment, read by the binary; only what [`is_inherited`](crate::is_inherited) is used.
    pub inherited: Vec<(OsString, OsString)>,
    /// Working directory; this process's own if absent.
    pub directory: Option<PathBuf>,
    /// What holds its processes together.
    pub containment: Containment,
    /// How long the rest of its group may take to exit after the leader. What is left then is named in
    /// [`Departure::survivors`](crate::Departure::survivors) and killed; without a grace period it is killed at once.
    pub grace: Duration,
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

    /// The whole environment of the child: what is allowed of the inherited one, then what is given.
    fn environment(&self) -> Vec<(OsString, OsString)> {
        let is_given = |name: &OsString| self.env.iter().any(|(given, _)| given == name);
        let inherited = environment::inherited(&self.inherited).filter(|(name, _)| !is_given(name));
        inherited.chain(&self.env).chain(self.containment.variable().as_ref()).cloned().collect()
    }

    /// The value of one variable as the child will see it.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        self.environment().into_iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Starts it with stdout and stderr as pipes, leading a process group of its own.
    ///
    /// With a `setup`, a shell runs that text of ours first and then becomes the program.
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
        system.spawn().map_err(|error| SpawnError::from_system(&path, error))
    }
}

/// POSIX has a shell at this path on every system we run on.
pub(crate) const SHELL: &str = "/bin/sh";

/// Names the variables, but never shows their values: they hold credentials.
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
