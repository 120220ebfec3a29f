//! Hooks: programs or endpoints that see tool calls.

use crate::secret::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

/// A hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hook {
    pub on: Vec<HookEvent>,
    /// Globs over names of tools.
    pub tools: Vec<String>,
    pub run: HookRun,
    pub when_it_fails: HookFailure,
    pub shows: HookShows,
    #[serde(with = "crate::keys::kind")]
    pub timeout: Duration,
    pub concurrency: u32,
    pub concurrency_per_caller: Option<u32>,
}

/// The way in which a hook is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HookRun {
    /// An absolute path and arguments.
    Command(Vec<String>),
    Endpoint {
        url: String,
        headers: BTreeMap<String, Secret>,
    },
}

/// The moment at which a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HookEvent {
    Before,
    After,
    Error,
}

/// The effect of a hook that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HookFailure {
    #[default]
    Refuse,
    Allow,
}

/// The form in which a hook sees arguments and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HookShows {
    #[default]
    Masked,
    Whole,
    None,
}
