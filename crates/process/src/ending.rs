//! The ending of a program: exit status, signal, or the reason why we killed it.

use std::{fmt, os::unix::process::ExitStatusExt, process::ExitStatus};

/// The ending of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this status.
    Code(i32),
    /// A signal of this number ended it, and not one of ours.
    Signal(i32),
    /// We killed it at its deadline.
    Deadline,
    /// We killed it because it wrote more to stdout than is kept, see
    /// [`Overflow::Stop`](crate::Overflow::Stop).
    Overflow,
    /// We killed it because its processes together exceeded their memory limit.
    TooMuchMemory,
    /// We killed it because it exceeded its limit of processes.
    TooManyProcesses,
    /// We killed it because we were asked to.
    Killed,
    /// It has ended, or cannot be waited for, and its status is unknown.
    Unknown,
}

impl Ending {
    /// True if it exited with status 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl From<ExitStatus> for Ending {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Unknown,
        }
    }
}

/// Continues "the program …".
impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with status {code}"),
            Self::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(f, "was ended by signal {signal} ({name})"),
                None => write!(f, "was ended by signal {signal}"),
            },
            Self::Deadline => f.write_str("was killed at its deadline"),
            Self::Overflow => f.write_str("was stopped because it wrote too much"),
            Self::TooMuchMemory => f.write_str("was killed because its processes used too much memory"),
            Self::TooManyProcesses => f.write_str("was killed because it started too many processes"),
            Self::Killed => f.write_str("was killed on request"),
            Self::Unknown => f.write_str("ended in an unknown way"),
        }
    }
}

/// Names of signals that end programs in practice and have the same number on all Unix systems.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_read_as_sentences() {
        assert_eq!(Ending::Code(1).to_string(), "exited with status 1");
        assert_eq!(Ending::Signal(9).to_string(), "was ended by signal 9 (SIGKILL)");
        assert_eq!(Ending::Signal(63).to_string(), "was ended by signal 63");
    }
}
