//! A command to start: program, arguments, working directory and environment.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::process;

use crate::{
    confinement::Confinement,
    environment,
    group::{Containment, GroupKind},
    lookup,
    spawn_error::SpawnError,
    supervisor::{self, Report, SUPERVISE},
};

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
    pub(crate) fn start(
        &self,
        stdin: Stdio,
        setup: Option<&str>,
    ) -> Result<(process::Child, GroupKind), SpawnError> {
        let path = lookup::find(self)?;
        tracing::debug!(program = %path.display(), "starting");
        let failed = |error| SpawnError::from_system(&path, error);
        let (program, arg0) = match setup {
            None => (path.as_os_str(), self.program.as_os_str()),
            Some(_) => (OsStr::new(SHELL), OsStr::new(SHELL)),
        };
        // Locked until the child is known and the pipe of its supervisor is closed.
        let mut children = supervisor::children();
        let (mut system, report) = match self.supervisor() {
            None => (process::Command::new(program), None),
            Some(own) => {
                let report = Report::new().map_err(failed)?;
                let mut system = process::Command::new(own);
                system.args([SUPERVISE, &std::process::id().to_string(), &report.descriptor().to_string()]);
                system.arg(program).arg(arg0);
                (system, Some(report))
            }
        };
        if report.is_none() {
            system.arg0(arg0);
        }
        if let Some(setup) = setup {
            system.arg("-c").arg(format!("{setup}exec \"$@\"")).arg("sh").arg(&path);
        }
        system.args(&self.args).env_clear().envs(self.environment());
        system.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A supervisor must outlive its program.
        system.process_group(0).kill_on_drop(report.is_none());
        if let Some(directory) = &self.directory {
            system.current_dir(directory);
        }
        let started = match &self.confinement {
            Some(confinement) => confinement.spawn(&mut system),
            None => system.spawn(),
        };
        let child = started.map_err(failed)?;
        if let Some(id) = child.id() {
            children.add(id);
        }
        let report = report.map(Report::close);
        drop(children);
        let Some(report) = report else { return Ok((child, GroupKind::Program)) };
        supervisor::outcome(report).map_err(failed)?;
        Ok((child, GroupKind::Supervisor))
    }

    /// The supervisor to use. Without one, the grace period is for the group of the program.
    fn supervisor(&self) -> Option<&'static Path> {
        supervisor::program().filter(|_| self.containment != Containment::Group && self.grace.is_zero())
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
