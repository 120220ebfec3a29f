//! A request to act on a project.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::roots::Inside;
use trunkline_toolbox::ToolError;

/// Maximum length of a test filter.
const LONGEST_FILTER: usize = 300;

/// An action on a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Action {
    Build,
    RunTests,
    Lint,
    Restore,
}

/// A request to act on a project.
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

    /// The name of the tool for this action.
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::RunTests => "run_tests",
            Self::Lint => "lint",
            Self::Restore => "restore",
        }
    }
}

/// Refuses a filter that a program could take for an option or an expression.
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
