//! One run of git.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    confined::confinement,
    environment::{Mode, Settings, environment},
    failure,
    pack::Git,
};
use trunkline_process::{Captured, Command, Ending, Keep, Limits, Overflow};
use trunkline_toolbox::ToolError;

/// Default maximum output that is parsed, in bytes.
pub(super) const OUTPUT_LIMIT: usize = 1024 * 1024;

/// Kept part of git's stderr: the beginning and the end.
const MESSAGES: Keep = Keep::ends(8 * 1024, 8 * 1024);

/// A git command with its directory, environment and limits.
#[derive(Debug)]
#[must_use]
pub(super) struct Invocation<'a> {
    git: &'a Git,
    mode: Mode,
    settings: Settings,
    variables: Vec<(OsString, OsString)>,
    directory: &'a Path,
    deadline: Instant,
    args: Vec<OsString>,
    input: Vec<u8>,
    output_limit: usize,
    reach: Reach,
}

/// The files that the kernel lets git access.
#[derive(Debug)]
enum Reach {
    /// Those of the roots and of the system, and these.
    Confined(Vec<PathBuf>),
    Unconfined,
}

/// The output of git.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) ending: Ending,
    pub(super) stdout: Captured,
    pub(super) stderr: Captured,
}

impl<'a> Invocation<'a> {
    pub(super) fn new(git: &'a Git, mode: Mode, directory: &'a Path, deadline: Instant) -> Self {
        Self {
            git,
            mode,
            settings: git.settings(),
            variables: Vec::new(),
            directory,
            deadline,
            args: Vec::new(),
            input: Vec::new(),
            output_limit: OUTPUT_LIMIT,
            reach: Reach::Confined(Vec::new()),
        }
    }

    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(super) fn args(mut self, args: impl IntoIterator<Item: AsRef<OsStr>>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Adds a setting that overrides those of every file.
    pub(super) fn setting(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.settings.push((key.into(), value.into()));
        self
    }

    pub(super) fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Lets git access a directory outside of the roots.
    pub(super) fn reaching(mut self, directory: &Path) -> Self {
        self.reach = Reach::Confined(vec![directory.to_owned()]);
        self
    }

    /// Lets git read all files: for a file of the operator that may include others.
    pub(super) fn unconfined(mut self) -> Self {
        self.reach = Reach::Unconfined;
        self
    }

    pub(super) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Sets the maximum output. A read-only command that writes more is stopped.
    pub(super) fn output_limit(mut self, bytes: usize) -> Self {
        self.output_limit = bytes;
        self
    }

    /// Runs the command; the caller interprets the status.
    pub(super) async fn run(self) -> Result<Output, ToolError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left == Duration::ZERO {
            return Err(failure::deadline(self.git.options().deadline));
        }
        let limits = Limits {
            deadline: left,
            stdout: Keep::head(self.output_limit),
            stderr: MESSAGES,
            overflow: if self.mode == Mode::Read { Overflow::Stop } else { Overflow::Drain },
            memory: self.git.options().memory,
            ..Limits::default()
        };
        let mut command = Command::new(self.git.program())
            .directory(self.directory)
            .args(&self.args)
            .envs(environment(self.git.options(), self.mode, &self.settings))
            .envs(self.variables);
        command.confinement = match self.reach {
            Reach::Confined(own) => confinement(self.git, self.mode, own),
            Reach::Unconfined => None,
        };
        let run = command.run(&limits, self.input).await;
        let finished = run.map_err(|error| failure::cannot_run(&error))?;
        match finished.ending {
            Ending::Deadline => Err(failure::deadline(self.git.options().deadline)),
            ending => Ok(Output { ending, stdout: finished.stdout, stderr: finished.stderr }),
        }
    }

    /// Runs the command; a status other than 0 is an error.
    pub(super) async fn ok(self) -> Result<Output, ToolError> {
        let output = self.run().await?;
        if output.is_success() { Ok(output) } else { Err(failure::of(&output)) }
    }
}

impl Output {
    /// True if git succeeded, or was stopped because it reached the output limit.
    pub(super) fn is_success(&self) -> bool {
        matches!(self.ending, Ending::Code(0) | Ending::Overflow)
    }

    pub(super) fn truncated(&self) -> bool {
        self.stdout.is_truncated() || self.ending == Ending::Overflow
    }

    /// The output as text, without the last line feed.
    pub(super) fn text(&self) -> String {
        let mut text = self.raw_text();
        if text.ends_with('\n') {
            text.pop();
        }
        text
    }

    /// The output as text.
    pub(super) fn raw_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout.head).into_owned()
    }

    /// The NUL-terminated fields of the output. A truncated last field is left out.
    pub(super) fn fields(&self) -> Vec<String> {
        let mut fields: Vec<_> = self
            .stdout
            .head
            .split(|byte| *byte == 0)
            .map(|field| String::from_utf8_lossy(field).into_owned())
            .collect();
        fields.pop();
        fields
    }

    /// The NUL-terminated fields of the output, as bytes.
    pub(super) fn raw_fields(&self) -> Vec<Vec<u8>> {
        let mut fields: Vec<_> = self.stdout.head.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
        fields.pop();
        fields
    }
}
