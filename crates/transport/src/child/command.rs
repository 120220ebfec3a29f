//! What to start, where, and with which limits.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::PathBuf,
    time::Duration,
};

use super::{environment, stderr_tail::DEFAULT_STDERR_TAIL};
use crate::stdio::{DEFAULT_LINE_LIMIT, QueueLimits};

/// A server's command line.
///
/// A bare program name is looked up in the `PATH` that the child gets, not in ours; a relative path with a slash
/// counts from the child's working directory.
#[derive(Clone)]
pub struct ChildCommand {
    /// Program name or path.
    pub program: OsString,
    /// Arguments, not counting the program.
    pub args: Vec<OsString>,
    /// Variables given to this child; they win over inherited ones.
    pub env: Vec<(OsString, OsString)>,
    /// This process's environment, read by the binary; only what [`allowed`](super::allowed) lets through is used.
    pub inherited: Vec<(OsString, OsString)>,
    /// Working directory; this process's own if absent.
    pub directory: Option<PathBuf>,
    /// How long what it leaves behind in its group may take to leave, too, before it is killed. What is still there then
    /// is told by [`Survivors`](super::Survivors); with none, it is killed at once and nothing is told.
    pub grace: Duration,
    /// Bounds on what the child may make us hold.
    pub limits: ChildLimits,
}

/// Bounds on what a child may make us hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildLimits {
    /// Longest line on its stdout, in bytes.
    pub line: usize,
    /// What may wait for its stdin.
    pub queue: QueueLimits,
    /// Bytes of its stderr that are kept.
    pub stderr_tail: usize,
}

impl Default for ChildLimits {
    fn default() -> Self {
        Self { line: DEFAULT_LINE_LIMIT, queue: QueueLimits::default(), stderr_tail: DEFAULT_STDERR_TAIL }
    }
}

impl ChildCommand {
    /// A command without arguments, with an empty environment and default limits.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            inherited: Vec::new(),
            directory: None,
            grace: Duration::ZERO,
            limits: ChildLimits::default(),
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// The whole environment of the child: what is allowed of the inherited one, then what is given.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut all: Vec<_> = environment::filter(&self.inherited)
            .filter(|(name, _)| self.given(name).is_none())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        all.extend(self.env.iter().cloned());
        all
    }

    /// The value of one variable as the child will see it.
    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        let inherited = || {
            environment::filter(&self.inherited)
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.as_os_str())
        };
        self.given(OsStr::new(name)).or_else(inherited)
    }

    fn given(&self, name: &OsStr) -> Option<&OsStr> {
        self.env.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
    }
}

/// Names the variables, but never shows their values: they hold credentials.
impl fmt::Debug for ChildCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("ChildCommand")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &names)
            .field("directory", &self.directory)
            .field("limits", &self.limits)
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
        let mut command = ChildCommand::new("x");
        command.inherited =
            vec![pair("PATH", "/inherited"), pair("HOME", "/home/a"), pair("TOKEN", "secret")];
        command.env = vec![pair("PATH", "/given"), pair("API_KEY", "k")];
        assert_eq!(
            command.environment(),
            [pair("HOME", "/home/a"), pair("PATH", "/given"), pair("API_KEY", "k")]
        );
        assert_eq!(command.variable("PATH"), Some(OsStr::new("/given")));
        assert_eq!(command.variable("TOKEN"), None);
    }

    #[test]
    fn debug_output_holds_no_values() {
        let mut command = ChildCommand::new("x");
        command.env = vec![pair("API_KEY", "canary")];
        command.inherited = vec![pair("HOME", "canary")];
        let text = format!("{command:?}");
        assert!(text.contains("API_KEY") && !text.contains("canary"), "{text}");
    }
}
