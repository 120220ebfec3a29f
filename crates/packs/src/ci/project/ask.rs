//! What is asked of a project.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::roots::Inside;
use trunkline_toolbox::ToolError;

/// Longest name of a test that can be asked for.
const LONGEST_FILTER: usize = 300;

/// What is done with a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Action {
    Build,
    RunTests,
    Lint,
    Restore,
}

/// What is asked of a project.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Ask<'a> {
    pub(in super::super) directory: &'a Inside,
    pub(in super::super) manifest: &'a str,
    pub(in super::super) action: Action,
    /// Only the tests whose name contains this.
    pub(in super::super) filter: Option<&'a str>,
    /// An empty directory for reports.
    pub(in super::super) scratch: &'a Path,
}

impl Action {
    pub(in super::super) const ALL: [Self; 4] = [Self::Build, Self::RunTests, Self::Lint, Self::Restore];

    /// The name of its tool.
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::RunTests => "run_tests",
            Self::Lint => "lint",
            Self::Restore => "restore",
        }
    }
}

/// A filter that cannot be taken for anything else than a name.
pub(in super::super) fn check_filter(filter: &str) -> Result<(), ToolError> {
    let ordinary = |c: char| c.is_alphanumeric() || "_-.:/@#[]() ,=+".contains(c);
    let starts = filter.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_');
    if starts && filter.len() <= LONGEST_FILTER && filter.chars().all(ordinary) {
        return Ok(());
    }
    Err(ToolError::new(format!("{filter:?} cannot be the name of a test")).hint(
        "Give the name of a test or a part of it: it begins with a letter, and contains no shell signs.",
    ))
}
