//! The end of a job.

use schemars::JsonSchema;
use serde::Serialize;

use super::super::report::Report;
use trunkline_process::{Ending, Finished};

/// The end of a job, with the report read from its output.
#[derive(Debug)]
pub(in super::super) struct Done {
    pub(in super::super) finished: Finished,
    pub(in super::super) report: Report,
}

/// The outcome of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Outcome {
    Succeeded,
    Failed,
    TimedOut,
    Cancelled,
    TooMuchMemory,
    TooManyProcesses,
    KilledBySignal,
    Unknown,
}

impl Done {
    pub(in super::super) fn outcome(&self) -> Outcome {
        match self.finished.ending {
            Ending::Code(0) => Outcome::Succeeded,
            Ending::Code(_) => Outcome::Failed,
            Ending::Deadline => Outcome::TimedOut,
            Ending::Killed => Outcome::Cancelled,
            Ending::TooMuchMemory => Outcome::TooMuchMemory,
            Ending::TooManyProcesses => Outcome::TooManyProcesses,
            Ending::Signal(_) => Outcome::KilledBySignal,
            Ending::Overflow | Ending::Unknown => Outcome::Unknown,
        }
    }

    pub(in super::super) fn exit_code(&self) -> Option<i32> {
        match self.finished.ending {
            Ending::Code(code) => Some(code),
            _ => None,
        }
    }

    pub(in super::super) fn signal(&self) -> Option<i32> {
        match self.finished.ending {
            Ending::Signal(signal) => Some(signal),
            _ => None,
        }
    }

    /// Advice for an ending that the program's own output does not explain.
    pub(in super::super) fn advice(&self) -> Option<&'static str> {
        match (self.outcome(), self.exit_code()) {
            (Outcome::TooMuchMemory, _) => Some(
                "It used more memory than all its processes together may have. Run less at once, or ask the operator for a higher limit.",
            ),
            (Outcome::TooManyProcesses, _) => Some(
                "It started more processes than it may. Run less at once, or ask the operator for a higher limit.",
            ),
            (Outcome::TimedOut, _) => {
                Some("It took too long and was killed. Run a part of it, or ask the operator for more time.")
            }
            (Outcome::KilledBySignal, _) => Some(
                "A signal ended it. Signals 6, 9 and 11 often mean that it ran into the memory limit of a process.",
            ),
            (Outcome::Failed, Some(126)) => Some("Status 126 mostly means that a file is not executable."),
            (Outcome::Failed, Some(127)) => Some(
                "Status 127 mostly means that a program was not found. Try restore, or call get_diagnostics.",
            ),
            _ => None,
        }
    }
}
