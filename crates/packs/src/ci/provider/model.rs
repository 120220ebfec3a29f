//! What hosted services tell, in the same words for all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One execution of a workflow or pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in super::super) struct Run {
    /// What to give as `runId`.
    pub(in super::super) id: String,
    pub(in super::super) name: String,
    pub(in super::super) state: RunState,
    /// The service's own words.
    pub(in super::super) detail: String,
    pub(in super::super) branch: String,
    pub(in super::super) commit: String,
    /// What set it off.
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

/// Which runs are wanted.
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
    /// Whether there are more.
    pub(in super::super) more: bool,
}

/// A part of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct HostedJob {
    pub(in super::super) id: String,
    pub(in super::super) name: String,
    pub(in super::super) state: RunState,
    pub(in super::super) url: String,
    /// The step or reason, where it is told.
    pub(in super::super) failed_at: Option<String>,
}

/// All jobs of a run.
#[derive(Debug)]
pub(in super::super) struct Jobs {
    pub(in super::super) jobs: Vec<HostedJob>,
    /// Whether there are more than are ever read.
    pub(in super::super) more: bool,
}

impl RunState {
    /// Whether it will not change any more.
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
    /// As a line for people.
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
