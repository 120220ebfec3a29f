//! A program to run: what, with which arguments, where, within which limits.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::process::Command;

use super::{limits::Limits, run_error::RunError, running::Finished, running::Running};

/// Shell that sets the limits and then becomes the program; POSIX has it at this path on every system we run on.
const SHELL: &str = "/bin/sh";

/// A program to run.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    args: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    directory: PathBuf,
    pub(super) input: Vec<u8>,
    pub(super) limits: Limits,
}

impl Program {
    /// The program at this absolute path, in this directory, with nothing in its environment.
    pub fn new(path: impl Into<PathBuf>, directory: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            args: Vec::new(),
            environment: Vec::new(),
            directory: directory.into(),
            input: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item: AsRef<OsStr>>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Adds a variable to its environment.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Gives it this to read on stdin; otherwise stdin is empty.
    #[must_use]
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Replaces its limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Starts it on the current runtime, which must have I/O and time enabled.
    pub fn start(self) -> Result<Running, RunError> {
        self.check()?;
        Running::start(self)
    }

    /// Runs it to its end. Dropping the future kills it.
    pub async fn run(self) -> Result<Finished, RunError> {
        Ok(self.start()?.wait().await)
    }

    /// Finds out beforehand what the shell could only tell by a status that a program may also have.
    fn check(&self) -> Result<(), RunError> {
        if !self.path.is_absolute() {
            return Err(RunError::Relative { path: self.path.clone() });
        }
        let metadata = std::fs::metadata(&self.path)
            .map_err(|source| RunError::Missing { path: self.path.clone(), source })?;
        if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
            return Err(RunError::NotExecutable { path: self.path.clone() });
        }
        if !self.directory.is_dir() {
            return Err(RunError::NoDirectory { path: self.directory.clone() });
        }
        let texts = self.environment.iter().flat_map(|(name, value)| [name, value]).chain(&self.args);
        if texts.into_iter().any(|text| text.as_encoded_bytes().contains(&0)) {
            return Err(RunError::Nul { path: self.path.clone() });
        }
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn command(&self) -> Command {
        let script = format!("{}exec \"$@\"", self.limits.shell_setup());
        let mut command = Command::new(SHELL);
        command.arg("-c").arg(script).arg("sh").arg(&self.path).args(&self.args);
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.current_dir(&self.directory).process_group(0).kill_on_drop(true);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if self.input.is_empty() { Stdio::null() } else { Stdio::piped() });
        command
    }

    pub(super) fn failed(&self, source: io::Error) -> RunError {
        RunError::System { path: self.path.clone(), source }
    }
}
