//! A common model of the data of all hosted services.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One execution of a workflow or pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in super::super) struct Run {
    /// Value for `runId`.
    pub(in super::super) id: String,
    pub(in super::super) name: String,
    pub(in super::super) state: RunState,
    /// The state in the service's own terms.
    pub(in super::super) detail: String,
    pub(in super::super) branch: String,
    pub(in super::super) commit: String,
    /// The event that triggered the run.
    pub(in super::super) event: String,
    pub(in super::super) url: String,
    pub(in super::super) created_at: String,
    pub(in super::super) updated_at: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum RunState {
    Waiting,
    Running,
    Succeeded,
    Failed,
    Cancelled,
    Skipped,
    Unknown,
}

/// Filter for runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Wanted {
    #[default]
    Any,
    Failed,
    Running,
    Succeeded,
}

/// Runs, newest first.
#[derive(Debug)]
pub(in super::super) struct Runs {
    pub(in super::super) runs: Vec<Run>,
    /// True if there are more than listed.
    pub(in super::super) more: bool,
}

/// A job of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct HostedJob {
    pub(in super::super) id: String,
    pub(in super::super) name: String,
    pub(in super::super) state: RunState,
    pub(in super::super) url: String,
    /// Failed step or reason, if the service reports it.
    pub(in super::super) failed_at: Option<String>,
}

/// All jobs of a run.
#[derive(Debug)]
pub(in super::super) struct Jobs {
    pub(in super::super) jobs: Vec<HostedJob>,
    /// True if the run has more jobs than are read.
    pub(in super::super) more: bool,
}

impl RunState {
    /// True if the state is final.
    pub(in super::super) fn is_final(self) -> bool {
        !matches!(self, Self::Waiting | Self::Running | Self::Unknown)
    }

    pub(in super::super) fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
            Self::Unknown => "unknown",
        }
    }
}

impl Run {
    /// One line of text for people.
    pub(in super::super) fn line(&self) -> String {
        let commit = self.commit.get(..10).unwrap_or(&self.commit);
        format!(
            "{} {} ({}) {} on {} at {commit}, {}",
            self.id,
            self.state.word(),
            self.detail,
            self.name,
            self.branch,
            self.url
        )
    }
}
